import type { Capability, TraceSummary } from '../../../shared/api-types.ts';
import type { CapabilityRuns } from '../../../shared/capability-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Sparkline } from '../../components/line-chart.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Await } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { percent, plural, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';

const DEFAULTS = {
  /** Runs that are listed. */
  shown: 6,
  /** Runs over which the rate of success is taken. */
  window: 10,
};

/** The runs it was learned from, and those that called it since. */
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
            <RunList title="Called in" runs={calls} nothing="Nobody has called it yet." />
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

/** The rate of success over time. */
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
