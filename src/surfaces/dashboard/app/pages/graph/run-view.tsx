import { useMemo } from 'preact/hooks';
import type { Graph, Trace, Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { kindOf } from '../../../shared/vocabulary.ts';
import { getJson } from '../../api.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { moment } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { setQuery } from '../../router.ts';
import { shownLine } from '../../shown-text.ts';
import { CallDetails } from './call-details.tsx';
import type { GraphState } from './graph-state.ts';
import type { Places } from './places.ts';
import { runDrawing } from './run-drawing.ts';
import { Stage } from './stage.tsx';

const DEFAULTS = {
  /** Runs one may choose from; every other one is reached by its address. */
  runs: 50,
};

const NO_PLACES: Places = new Map();

/** Each call of one run; without a run that is named the newest one. */
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
                <a href={href.graph()}>What is known without runs</a>
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
  const drawing = useMemo(() => runDrawing(trace, withOperations, labelOf), [trace, withOperations, labelOf]);
  const settled = useMemo(
    () => ({ drawing, places: NO_PLACES, scene: `run ${trace.id} ${withOperations}` }),
    [drawing],
  );
  const choices = traces.some(({ id }) => id === trace.id) ? traces : [trace, ...traces];
  return (
    <Stage
      state={state}
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
        details: state.node ? (
          <CallDetails id={state.node} calls={drawing.calls} run={trace.id} labelOf={labelOf} />
        ) : (
          <EmptyState icon="graph" title="Choose a call">
            In the drawing or in the list.
          </EmptyState>
        ),
      }}
    />
  );
}
