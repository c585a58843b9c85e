import type { ComponentChildren } from 'preact';
import type { Activity } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { Sparkline } from '../../components/line-chart.tsx';
import { compact, number, percent, plural } from '../../format.ts';
import { useCapabilities, useStats } from '../../overview.ts';
import { useResource } from '../../resource.ts';

interface Day {
  /** Local midnight. */
  readonly start: Date;
  readonly runs: number;
  readonly successes: number;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const DEFAULTS = { days: 14 };

/** The statistics at the top of Home. */
export function Figures() {
  const stats = useStats().state.value.data;
  const activity = useResource<Activity>('activity', {
    load: (signal) => getJson('/activity', { days: DEFAULTS.days + 1 }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  }).state.value.data;
  const capabilities = useCapabilities().state.value.data?.capabilities;
  const candidates = capabilities?.filter(({ state }) => state === 'candidate').length ?? 0;
  const days = activity && daysOf(activity, DEFAULTS.days, new Date());
  const today = days?.at(-1);
  const runs = days && sum(days.map((day) => day.runs));
  const successes = days ? sum(days.map((day) => day.successes)) : 0;
  return (
    <dl class="figures">
      <Figure
        title="Tokens saved"
        value={stats && compact(stats.spared_tokens)}
        note={
          stats && `${compact(stats.exposed_tokens)} per request instead of ${compact(stats.schema_tokens)}`
        }
      />
      <Figure
        title="Tools"
        value={stats && number(stats.tools)}
        note={stats && `on ${plural(stats.servers, 'server')}`}
      />
      <Figure
        title="Runs today"
        value={today && number(today.runs)}
        note={runs !== undefined && `${number(runs)} in ${DEFAULTS.days} days`}
        chart={
          days &&
          runs !== 0 && (
            <Sparkline
              values={days.map((day) => day.runs)}
              label={`Runs per day, last ${DEFAULTS.days} days`}
            />
          )
        }
      />
      <Figure
        title="Success rate"
        value={runs === undefined ? undefined : runs === 0 ? '–' : percent(successes / runs)}
        note={runs === 0 ? 'no runs yet' : `of the last ${DEFAULTS.days} days`}
      />
      <Figure
        title="Capabilities"
        value={capabilities && number(capabilities.length - candidates)}
        note={capabilities && plural(candidates, 'candidate')}
      />
    </dl>
  );
}

function Figure({
  title,
  value,
  note,
  chart,
}: {
  title: string;
  value: string | undefined;
  note: ComponentChildren;
  chart?: ComponentChildren;
}) {
  return (
    <div class="figure">
      <dt>{title}</dt>
      <dd>
        <span class="figure-value">{value ?? <span class="figure-wait" />}</span>
        {chart}
        <span class="figure-note">{note || '\u00a0'}</span>
      </dd>
    </div>
  );
}

/** The last `count` local calendar days, oldest first, including those without runs. */
export function daysOf({ hours }: Activity, count: number, now: Date): Day[] {
  return Array.from({ length: count }, (_, i) => {
    const start = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1 - i));
    const end = new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1);
    const own = hours.filter(({ hour }) => new Date(hour) >= start && new Date(hour) < end);
    return {
      start,
      runs: sum(own.map(({ runs }) => runs)),
      successes: sum(own.map((hour) => hour.successes)),
    };
  });
}
