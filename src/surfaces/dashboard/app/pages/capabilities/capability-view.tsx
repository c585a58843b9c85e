import { useState } from 'preact/hooks';
import type { Capability, CapabilityRuns, Execution, TraceSummary } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson, postJson } from '../../api.ts';
import { WaitingCall } from '../../components/approval-item.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { Code, SchemaTable } from '../../components/code.tsx';
import { Sparkline } from '../../components/line-chart.tsx';
import { Outline } from '../../components/outline.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Await, EmptyState, ErrorState, Outcome } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { number, percent, plural, shownLine, shownText } from '../../format.ts';
import { type Resource, useResource } from '../../resource.ts';
import { CapabilityActions } from './capability-actions.tsx';

const DEFAULTS = {
  /** Runs to list. */
  shown: 6,
  /** Runs per point of the success rate. */
  window: 10,
};

/** One capability with all its details. */
export function CapabilityView({ slug }: { slug: string }) {
  const capability = useResource<Capability>(`capability ${slug}`, {
    load: (signal) => getJson(`/capabilities/${encodeURIComponent(slug)}`, {}, signal),
    reloadOn: (event) => event.type === 'capability_changed',
  });
  const { data, error } = capability.state.value;
  if (error?.code === 'not_found') return <Gone slug={slug} error={error} />;
  return (
    <>
      <p class="capability-crumb">
        <a href={href.capabilities()}>Capabilities</a>
      </p>
      <PageHead
        title={shownLine(data?.slug ?? slug, 80)}
        lead={data && shownLine(data.description, 300)}
        actions={data && <CapabilityActions of={data} onChange={capability.set} />}
      />
      <Await of={capability.state.value} retry={capability.reload} lines={10}>
        {(known) => <Known of={known} reload={capability.reload} />}
      </Await>
    </>
  );
}

function Known({ of: known, reload }: { of: Capability; reload: Resource<Capability>['reload'] }) {
  return (
    <div class="stack">
      {known.state === 'quarantined' && (
        <div class="capability-warning" role="note">
          <StatusBadge status="quarantined" />
          <span>
            This capability cannot be called or suggested:{' '}
            {shownText(known.quarantined_because ?? 'no reason given')}. Review it, then release it.
          </span>
        </div>
      )}
      <div class="columns">
        <div class="stack">
          <Panel title="Run it">
            <RunCapability of={known} onRun={reload} />
          </Panel>
          <Panel title="Code">
            <div class="capability-code">
              <Code text={known.signature} label="Signature" />
              <Code text={known.code} label="Source code" numbers />
              <Outline id={known.slug} code={known.code} />
            </div>
          </Panel>
          <CapabilityOrigin of={known} />
        </div>
        <div class="stack">
          <Panel title="Performance">
            <CapabilityFigures of={known} />
          </Panel>
          <Panel title="Parameters">
            <SchemaTable schema={known.parameters} nothing="It takes no arguments." />
          </Panel>
          <Panel title="Result">
            <SchemaTable schema={known.output} nothing="No output has been observed yet." />
          </Panel>
        </div>
      </div>
    </div>
  );
}

function Gone({ slug, error }: { slug: string; error: ApiError }) {
  return (
    <>
      <PageHead title={shownLine(slug, 80)} />
      <ErrorState error={new ApiError(404, error.code, error.message)} />
      <EmptyState icon="capabilities" title="It may have been renamed or deleted">
        <a href={href.capabilities()}>All capabilities</a>
      </EmptyState>
    </>
  );
}

/** State, success and aliases; the latest outcomes as a row of marks. */
function CapabilityFigures({ of }: { of: Capability }) {
  const { state, uses, success_rate, reliability, evidence, aliases, intent, tools_used } = of;
  const worked = evidence.recent.filter(Boolean).length;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <StatusBadge status={state} />
        {state === 'candidate' && <span class="muted"> becomes active after one more success</span>}
      </dd>
      <dt>Success</dt>
      <dd>
        {uses === 0 ? 'not used yet' : `${percent(success_rate)} of ${number(uses)}`}
        {evidence.recent.length > 0 && (
          <span
            class="capability-outcomes"
            role="img"
            aria-label={`${worked} of the latest ${evidence.recent.length} runs succeeded, oldest first`}
          >
            {evidence.recent.map((success, i) => (
              <i key={i} class={success ? 'capability-outcomes-good' : 'capability-outcomes-bad'} />
            ))}
          </span>
        )}
      </dd>
      <dt>Reliability</dt>
      <dd>
        {percent(reliability)}
        <span class="cell-note muted">lower bound of the success rate, given the number of runs</span>
      </dd>
      {intent && (
        <>
          <dt>Made for</dt>
          <dd>{shownLine(intent, 240)}</dd>
        </>
      )}
      {aliases.length > 0 && (
        <>
          <dt>Also called</dt>
          <dd class="mono">{aliases.map((alias) => shownLine(alias, 60)).join(', ')}</dd>
        </>
      )}
      <dt>Calls</dt>
      <dd>
        {tools_used.length === 0 && <span class="muted">no tool</span>}
        {tools_used.map((tool) =>
          // Operations of the program itself have no node in the graph.
          tool.startsWith('code:') ? null : (
            <a key={tool} class="cell-note mono" href={href.graph({ node: tool })}>
              {shownLine(tool, 80)}
            </a>
          ),
        )}
      </dd>
      <dt>Since</dt>
      <dd>
        <Time at={of.created_at} />
      </dd>
    </dl>
  );
}

/** Runs it with arguments; calls that need approval wait for it, as for an agent. */
function RunCapability({
  of: { slug, state, parameters, tools_used },
  onRun,
}: {
  of: Capability;
  onRun: () => void;
}) {
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Execution | ApiError | null>(null);
  if (state === 'quarantined') return <p class="muted">Release this capability to run it.</p>;
  const run = async (values: Readonly<Record<string, unknown>>) => {
    setRunning(true);
    setOutcome(null);
    const address = `/capabilities/${encodeURIComponent(slug)}/run`;
    setOutcome(await postJson<Execution>(address, { arguments: values }).catch(ApiError.from));
    setRunning(false);
    onRun();
  };
  return (
    <div>
      <SchemaForm
        schema={parameters}
        submit={isRunning ? 'Running…' : 'Run'}
        isBusy={isRunning}
        onSubmit={(values) => void run(values)}
      />
      <div class="form-outcome" aria-live="polite">
        {isRunning && <WaitingCall nodes={tools_used} />}
        {outcome && <Outcome of={outcome} />}
      </div>
    </div>
  );
}

/** The runs it was learned from, and later runs that called it. */
function CapabilityOrigin({ of: { slug } }: { of: Capability }) {
  const runs = useResource<CapabilityRuns>(`capability runs ${slug}`, {
    load: (signal) => getJson(`/capabilities/${encodeURIComponent(slug)}/runs`, {}, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
  return (
    <Panel title="Where it comes from">
      <Await of={runs.state.value} retry={runs.reload}>
        {({ learned_from, calls }) => (
          <div class="stack">
            <RunList
              title="Learned from"
              runs={learned_from}
              nothing="The runs it was learned from have been deleted, or it was imported."
            />
            <RunList title="Called in" runs={calls} nothing="Not called yet." />
            <Course runs={[...learned_from, ...calls]} />
          </div>
        )}
      </Await>
    </Panel>
  );
}

function RunList({
  title,
  runs,
  nothing,
}: {
  title: string;
  runs: readonly TraceSummary[];
  nothing: string;
}) {
  return (
    <div>
      <h3>{title}</h3>
      {runs.length === 0 && <p class="muted">{nothing}</p>}
      <SteadyRows rows={runs.slice(0, DEFAULTS.shown)} keyOf={({ id }) => id}>
        {(steady) => (
          <ul class="capability-origin">
            {steady.map(({ id, intent_text, success, executed_at, duration_ms }) => (
              <li key={id}>
                <StatusBadge status={success ? 'success' : 'error'} />
                <a href={href.run(id)}>{shownLine(intent_text ?? '', 80) || 'a run without an intent'}</a>
                <span class="faint">
                  <Duration ms={duration_ms} /> · <Time at={executed_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </SteadyRows>
    </div>
  );
}

/** Success rate over time. */
function Course({ runs }: { runs: readonly TraceSummary[] }) {
  const inOrder = runs.toSorted((a, b) => a.executed_at.localeCompare(b.executed_at));
  if (inOrder.length < 2) return null;
  const rates = inOrder.map((_, i) => {
    const window = inOrder.slice(Math.max(0, i + 1 - DEFAULTS.window), i + 1);
    return window.filter(({ success }) => success).length / window.length;
  });
  const now = percent(rates.at(-1)!);
  return (
    <div>
      <h3>Success over time</h3>
      <div class="capability-course">
        <Sparkline values={[...rates]} label={`Success over ${plural(rates.length, 'run')}: now ${now}`} />
        <span class="muted">
          {now} of the latest {Math.min(DEFAULTS.window, rates.length)} runs
        </span>
      </div>
    </div>
  );
}
