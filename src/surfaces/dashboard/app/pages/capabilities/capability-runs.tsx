import { useState } from 'preact/hooks';
import type { Capability, Execution, TraceSummary } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, postJson } from '../../api.ts';
import { WaitingCall } from '../../components/approval-item.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { Sparkline } from '../../components/line-chart.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { Outcome } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { percent, plural, shownLine } from '../../format.ts';

const DEFAULTS = {
  /** Runs to list. */
  shown: 6,
  /** Runs per point of the success rate. */
  window: 10,
};

/** Runs it with arguments; calls that need approval wait for it, as for an agent. */
export function RunCapability({
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

export function RunList({
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
export function Course({ runs }: { runs: readonly TraceSummary[] }) {
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
