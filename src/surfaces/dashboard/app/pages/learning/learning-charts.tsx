import type { Learning } from '../../../shared/api-types.ts';
import type { LearningInsight } from '../../../shared/learning-types.ts';
import { LineChart, type Point } from '../../components/line-chart.tsx';
import { Panel } from '../../components/panel.tsx';
import { number, plural } from '../../format.ts';

const DEFAULTS = {
  /** Judged runs of which the mean is drawn. */
  window: 10,
};

const figure = (value: number) => value.toFixed(2);

/** Training by training, and run by run since. */
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
        <p class="muted">No training was judged yet: that takes runs which had not been learned from.</p>
      ) : (
        <LineChart
          label="nDCG@10 of what was learned and of search, by runs learned from"
          xTitle="runs learned from"
          xFormat={number}
          format={figure}
          series={[
            {
              name: 'Learned, with the 95 % interval of the difference',
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
        <p class="muted">Nothing was trained here.</p>
      ) : (
        <LineChart
          label="Loss by step"
          xTitle="steps"
          xFormat={number}
          format={figure}
          series={[
            {
              name: 'Listwise loss: how far the right tools are from coming first',
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
          Before each step of a run its success is foretold; how far that is off is drawn here once there are
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
