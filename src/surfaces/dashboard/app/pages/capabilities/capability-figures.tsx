import type { Capability, CapabilityRuns } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Await } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { number, percent, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { Course, RunList } from './capability-runs.tsx';

/** State, success and aliases; the latest outcomes as a row of marks. */
export function CapabilityFigures({ of }: { of: Capability }) {
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

/** The runs it was learned from, and later runs that called it. */
export function CapabilityOrigin({ of: { slug } }: { of: Capability }) {
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
