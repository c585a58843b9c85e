import type { Learning, LearningInsight } from '../../../shared/api-types.ts';
import { LineChart, type Point } from '../../components/line-chart.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { number, percent, plural } from '../../format.ts';

const DEFAULTS = {
  /** Evaluated runs per moving average. */
  window: 10,
  /** Below this multiple of the mean, no step stands out. */
  even: 1.1,
};

const figure = (value: number) => value.toFixed(2);

/** The ranker against plain search, by training and by run. */
export function LearnedVersusSearch({
  trainings,
  evidence,
}: {
  trainings: LearningInsight['trainings'];
  evidence: Learning['evidence'];
}) {
  const judged = trainings.flatMap(({ runs, learned, hybrid, ci95 }) =>
    learned === null || hybrid === null ? [] : [{ runs, learned, hybrid, ci95 }],
  );
  return (
    <Panel title="Learned versus search">
      {judged.length === 0 ? (
        <p class="muted">
          No training has been evaluated yet. That takes runs that were not used for training.
        </p>
      ) : (
        <LineChart
          label="nDCG@10 of the trained ranker and of search, by number of training runs"
          xTitle="training runs"
          xFormat={number}
          format={figure}
          series={[
            {
              name: 'Trained ranker, with the 95 % interval of the difference',
              colour: 1,
              points: judged.map(({ runs, learned, hybrid, ci95 }) => ({
                x: runs,
                y: learned,
                low: Math.max(0, hybrid + ci95[0]),
                high: Math.min(1, hybrid + ci95[1]),
              })),
            },
            {
              name: 'Search alone',
              colour: 2,
              isDashed: true,
              points: judged.map(({ runs, hybrid }) => ({ x: runs, y: hybrid })),
            },
          ]}
        />
      )}
      {evidence.learned.length > 1 && (
        <>
          <h3 class="learning-subtitle">On the newest runs</h3>
          <LineChart
            label={`nDCG@10 on ${plural(evidence.learned.length, 'newest run')}, mean of ${DEFAULTS.window}`}
            xTitle={`newest runs, oldest first, mean of ${DEFAULTS.window}`}
            format={figure}
            series={[
              { name: 'Learned', colour: 1, points: rolling(evidence.learned) },
              { name: 'Search alone', colour: 2, isDashed: true, points: rolling(evidence.hybrid) },
            ]}
          />
        </>
      )}
    </Panel>
  );
}

export function LossCurve({ losses }: { losses: readonly number[] }) {
  return (
    <Panel title="Loss of the last training">
      {losses.length === 0 ? (
        <p class="muted">No training yet.</p>
      ) : (
        <LineChart
          label="Loss by step"
          xTitle="steps"
          xFormat={number}
          format={figure}
          series={[
            {
              name: 'Listwise loss: lower when the right tools come first',
              colour: 1,
              points: losses.map((y, i) => ({ x: i + 1, y })),
            },
          ]}
        />
      )}
    </Panel>
  );
}

export function TdErrorCurve({ errors }: { errors: readonly number[] }) {
  return (
    <Panel title="TD error">
      {errors.length < 2 ? (
        <p class="muted">
          PML predicts the success of a run before each step. The prediction error appears here once there are
          runs.
        </p>
      ) : (
        <LineChart
          label="Mean absolute TD error by run"
          xTitle="newest runs, oldest first"
          format={(error) => error.toFixed(3)}
          series={[
            {
              name: 'Mean |TD error| of the 500 latest predictions of success',
              colour: 3,
              points: errors.map((y, x) => ({ x, y })),
            },
          ]}
        />
      )}
    </Panel>
  );
}

function rolling(values: readonly number[]): Point[] {
  return values.map((_, x) => {
    const window = values.slice(Math.max(0, x + 1 - DEFAULTS.window), x + 1);
    return { x, y: window.reduce((sum, value) => sum + value, 0) / window.length };
  });
}

/** How unevenly past steps are sampled: those with a large prediction error more often. */
export function ReplayPriorities({ of: replay }: { of: LearningInsight['replay'] }) {
  return (
    <Panel title="Replay priorities">
      {replay.steps === 0 || replay.most === null ? (
        <p class="muted">Steps of past runs are replayed to learn how runs end. No steps yet.</p>
      ) : (
        <Shares of={replay} most={replay.most} />
      )}
    </Panel>
  );
}

function Shares({ of: { steps, shares }, most }: { of: LearningInsight['replay']; most: number }) {
  const greatest = Math.max(...shares.map((share) => share.steps));
  return (
    <>
      <p class="muted">
        {plural(steps, 'step')} of past runs are stored.{' '}
        {most < DEFAULTS.even
          ? 'All are replayed about equally often, because their prediction errors are similar.'
          : `The step with the largest prediction error is replayed ${number(most)} times as often as the average.`}
      </p>
      <table class="learning-bars" aria-label="Steps by how often they are replayed">
        <tbody>
          {shares.map(({ up_to, steps: count }, i) => (
            <tr key={up_to}>
              <th scope="row">{rangeOf(shares[i - 1]?.up_to ?? 0, up_to)}</th>
              <td aria-hidden="true">
                <i style={{ width: percent(count / greatest) }} />
              </td>
              <td class="number">{number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function rangeOf(from: number, upTo: number | null): string {
  if (upTo === null) return `over ${from} times the average`;
  return from === 0 ? `up to ${upTo} times` : `${from} to ${upTo} times`;
}

/** A difference with its 95 % interval, on a line with 0 in the middle and `reach` at both ends. */
export function Interval({
  gain,
  ci95: [low, high],
  reach,
}: {
  gain: number;
  ci95: readonly [number, number];
  reach: number;
}) {
  const at = (value: number) => `${50 + 50 * Math.max(-1, Math.min(1, value / reach))}%`;
  const width = `${50 * Math.min(2, (Math.min(reach, high) - Math.max(-reach, low)) / reach)}%`;
  const tone = low > 0 ? 'up' : high < 0 ? 'down' : 'even';
  return (
    <span
      class={`interval interval-${tone}`}
      role="img"
      aria-label={`${signed(gain)}, from ${signed(low)} to ${signed(high)}`}
    >
      <i style={{ left: at(low), width }} />
      <b style={{ left: at(gain) }} />
    </span>
  );
}

/** A difference with its sign; a value displayed as 0 has none. */
export function signed(value: number, digits = 3): string {
  const figure = Math.abs(value).toFixed(digits);
  const sign = Number(figure) === 0 ? '±' : value < 0 ? '−' : '+';
  return `${sign}${figure}`;
}

/** A progress bar. */
export function ProgressBar({ label, done, total }: { label: string; done: number; total: number }) {
  const reached = Math.min(done, total);
  return (
    <div
      class="learning-bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={reached}
    >
      <i style={{ width: `${(100 * reached) / Math.max(1, total)}%` }} />
    </div>
  );
}
