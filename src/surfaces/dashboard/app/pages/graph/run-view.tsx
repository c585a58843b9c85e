import { useMemo } from 'preact/hooks';
import type { Graph, Trace, Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { kindOf } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { JsonView, LongText } from '../../components/json-view.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Duration } from '../../components/time.tsx';
import { duration, moment, number, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { setQuery } from '../../router.ts';
import type { GraphState } from './graph-state.ts';
import { NodeGlyph } from './legend.tsx';
import { Figure } from './node-details.tsx';
import { hrefOf } from './node-list.tsx';
import { type CallGroup, type RunCall, runDrawing } from './run-drawing.ts';
import { Stage } from './stage.tsx';
import type { Places } from './use-layout.ts';

const DEFAULTS = {
  /** Runs to choose from; any other run can be opened by its address. */
  runs: 50,
};

const NO_PLACES: Places = new Map();

/** The calls of one run; by default the newest. */
export function RunView({ state, graph }: { state: GraphState; graph: Graph }) {
  const recent = useResource<Traces>('graph traces', {
    load: (signal) => getJson('/traces', { limit: DEFAULTS.runs }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
  return (
    <Await of={recent.state.value} retry={recent.reload}>
      {({ traces }) => {
        const run = state.run ?? traces[0]?.id;
        if (run === undefined) {
          return (
            <>
              <PageHead title="Graph" />
              <EmptyState icon="runs" title="Nothing has run yet">
                <a href={href.graph()}>Show the definition graph</a>
              </EmptyState>
            </>
          );
        }
        return <OneRun key={run} state={state} graph={graph} run={run} traces={traces} />;
      }}
    </Await>
  );
}

function OneRun({
  state,
  graph,
  run,
  traces,
}: {
  state: GraphState;
  graph: Graph;
  run: string;
  traces: Traces['traces'];
}) {
  const trace = useResource<Trace>(`trace ${run}`, {
    load: (signal) => getJson(`/traces/${encodeURIComponent(run)}`, {}, signal),
  });
  return (
    <Await of={trace.state.value} retry={trace.reload}>
      {(data) => <Calls state={state} graph={graph} trace={data} traces={traces} />}
    </Await>
  );
}

function Calls({
  state,
  graph,
  trace,
  traces,
}: {
  state: GraphState;
  graph: Graph;
  trace: Trace;
  traces: Traces['traces'];
}) {
  const labelOf = useMemo(() => {
    const labels = new Map(graph.nodes.map(({ id, label }) => [id, label]));
    return (node: string) =>
      labels.get(node) ??
      (kindOf(node) === 'capability' ? 'a capability' : node.slice(node.indexOf(':') + 1));
  }, [graph]);
  const withOperations = state.filter.kinds.has('operation');
  const { isTogether } = state;
  const drawing = useMemo(
    () => runDrawing(trace, withOperations, labelOf, isTogether),
    [trace, withOperations, labelOf, isTogether],
  );
  const settled = useMemo(
    () => ({ drawing, places: NO_PLACES, scene: `run ${trace.id} ${withOperations} ${isTogether}` }),
    [drawing],
  );
  const chosen = drawing.groups.find(({ id }) => id === state.node);
  const choices = traces.some(({ id }) => id === trace.id) ? traces : [trace, ...traces];
  return (
    <Stage
      state={state}
      drawing={drawing}
      settled={settled}
      trace={trace}
      lead={
        <select
          class="graph-run"
          aria-label="Run"
          value={trace.id}
          onChange={({ currentTarget: { value } }) =>
            setQuery({ mode: undefined, run: value, node: undefined, panel: undefined }, { replace: false })
          }
        >
          {choices.map(({ id, intent_text, executed_at, success }) => (
            <option key={id} value={id}>
              {`${moment(executed_at)} · ${shownLine(intent_text ?? 'without an intent', 70)}${success ? '' : ' (failed)'}`}
            </option>
          ))}
        </select>
      }
      panels={{
        details: chosen ? (
          isTogether ? (
            <GroupDetails group={chosen} run={trace.id} labelOf={labelOf} />
          ) : (
            <CallDetails call={chosen.calls[0]} groups={drawing.groups} run={trace.id} labelOf={labelOf} />
          )
        ) : state.node ? (
          <EmptyState icon="info" title="This call is not part of the run" />
        ) : (
          <EmptyState icon="graph" title={isTogether ? 'Choose a tool' : 'Choose a call'}>
            In the graph or in the list.
          </EmptyState>
        ),
      }}
    />
  );
}

/** All calls of a tool in a run, each with a link to itself. */
function GroupDetails({
  group: { calls, totalMs },
  run,
  labelOf,
}: {
  group: CallGroup;
  run: string;
  labelOf: (node: string) => string;
}) {
  const [{ node }] = calls;
  const failed = calls.filter(({ success }) => !success).length;
  const slowestFirst = calls.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0));
  return (
    <div class="graph-details">
      <CallHead node={node} id={node} labelOf={labelOf} />
      <dl class="graph-figures">
        <Figure title="Calls" value={number(calls.length)} />
        <Figure title="Failed" value={number(failed)} />
        <Figure title="In all" value={totalMs === null ? '–' : duration(totalMs)} />
        <Figure title="Longest" value={duration(slowestFirst[0]!.durationMs ?? 0)} />
      </dl>
      <CallLinks node={node} run={run} />
      <section>
        <h3>Calls, slowest first</h3>
        <ul class="graph-related">
          {slowestFirst.map(({ id, durationMs, success }) => (
            <li key={id}>
              <a href={href.graph({ run, node: id })}>{shownLine(id, 100)}</a>
              {!success && <span class="bad">failed</span>}
              {durationMs !== null && <span class="number">{duration(durationMs)}</span>}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function CallHead({ node, id, labelOf }: { node: string; id: string; labelOf: (node: string) => string }) {
  return (
    <header>
      <h2>
        <NodeGlyph kind={kindOf(node)} />
        {shownLine(labelOf(node), 120)}
      </h2>
      <p class="muted mono">{shownLine(id, 160)}</p>
    </header>
  );
}

function CallLinks({ node, run }: { node: string; run: string }) {
  return (
    <div class="row">
      <a class="button button-plain" href={href.graph({ node })}>
        Show all details
      </a>
      <a class="button button-plain" href={href.run(run)}>
        Show the run
      </a>
    </div>
  );
}

/** One call of a run: arguments, result, and concurrent calls. */
function CallDetails({
  call,
  groups,
  run,
  labelOf,
}: {
  call: RunCall;
  groups: readonly CallGroup[];
  run: string;
  labelOf: (node: string) => string;
}) {
  const within = groups.find(({ calls: [{ traceId }] }) => traceId === call.parent)?.calls[0];
  return (
    <div class="graph-details">
      <CallHead node={call.node} id={call.id} labelOf={labelOf} />
      <div class="row">
        <StatusBadge status={call.success ? 'success' : 'error'} />
        {call.durationMs !== null && <Duration ms={call.durationMs} />}
      </div>
      {call.error && (
        <p class="bad">
          <LongText text={call.error} />
        </p>
      )}
      <CallLinks node={call.node} run={run} />
      {within && (
        <section>
          <h3>Called by</h3>
          <a href={hrefOf(within.id)}>{shownLine(labelOf(within.node), 100)}</a>
        </section>
      )}
      {call.parallelWith.length > 0 && (
        <section>
          <h3>At the same time</h3>
          <ul class="graph-related">
            {call.parallelWith.map((other) => (
              <li key={other}>
                <a href={hrefOf(other)}>{shownLine(other, 100)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Value title="Arguments" value={call.args} />
      <Value title="Result" value={call.result} />
    </div>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <section>
      <h3>{title}</h3>
      <JsonView value={value} />
    </section>
  );
}
