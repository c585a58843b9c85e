import type { LearningInsight } from '../../../shared/learning-types.ts';
import { Panel } from '../../components/panel.tsx';
import { number, percent, plural } from '../../format.ts';

const DEFAULTS = {
  /** Below so many times the mean, none stands out. */
  even: 1.1,
};

/** How unevenly past steps are drawn: those whose outcome was foretold badly come up more often. */
export function ReplayPriorities({ of: replay }: { of: LearningInsight['replay'] }) {
  return (
    <Panel title="Replay priorities">
      {replay.steps === 0 || replay.most === null ? (
        <p class="muted">Steps of past runs are replayed to learn how runs end. There are none yet.</p>
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
        {plural(steps, 'step')} of past runs are kept.{' '}
        {most < DEFAULTS.even
          ? 'All are replayed about equally often, since none was foretold much worse than the others.'
          : `The one foretold worst is replayed ${number(most)} times as often as the mean.`}
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
  if (upTo === null) return `over ${from} times the mean`;
  return from === 0 ? `up to ${upTo} times` : `${from} to ${upTo} times`;
}
