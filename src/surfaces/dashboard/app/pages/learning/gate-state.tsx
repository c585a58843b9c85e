import type { Gate, Learning } from '../../../shared/api-types.ts';
import { Badge } from '../../components/badge.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Time } from '../../components/time.tsx';
import { number, plural, shownLine } from '../../format.ts';
import { Interval, signed } from './learning-charts.tsx';

/** Whether the ranker is in use, and why, in words. */
export function GateState({ of: { gate, model, embedding } }: { of: Learning }) {
  return (
    <Panel
      title="Serving?"
      actions={
        gate.open ? (
          <Badge tone="good" icon="check">
            gate open
          </Badge>
        ) : (
          <Badge icon="hand">gate closed</Badge>
        )
      }
    >
      <div class="gate">
        <p class="gate-words">{inWords(gate, model !== null)}</p>
        {gate.n > 0 && (
          <>
            <dl class="gate-figures">
              <Judged title="Familiar questions" figures={gate} noun="newest run" />
              {gate.far.n > 0 && (
                <Judged
                  title="Unseen questions"
                  figures={gate.far}
                  noun="question"
                  condition="must not be worse"
                />
              )}
            </dl>
            <p class="muted">
              Compared with search by text alone, which is at 0. Measured as nDCG@10, which is 1 when all the
              right tools come first, on runs that were not used for training. For unseen questions, the right
              tool counts as never used before.
            </p>
          </>
        )}
        <p class="muted">
          {gate.since && (
            <>
              {gate.open ? 'Open' : 'Closed'} since <Time at={gate.since} />.{' '}
            </>
          )}
          {model &&
            `${number(model.parameters)} parameters learned from ${plural(model.runs, 'run')}, vectors by ${shownLine(embedding, 60)}.`}
        </p>
      </div>
    </Panel>
  );
}

function Judged({
  title,
  figures: { gain, ci95, n },
  noun,
  condition,
}: {
  title: string;
  figures: Gate['far'];
  noun: string;
  condition?: string;
}) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {figuresOf(gain, ci95)} on {plural(n, noun)}
        {condition && <span class="muted"> ({condition})</span>}
        <Interval gain={gain} ci95={ci95} reach={1} />
      </dd>
    </div>
  );
}

function figuresOf(gain: number, [low, high]: Gate['ci95']): string {
  return `${signed(gain)} (95 % interval ${signed(low)} to ${signed(high)})`;
}

function inWords({ open, gain, ci95, n, far }: Gate, isTrained: boolean): string {
  if (!isTrained) return 'No: nothing has been trained yet. Search ranks by text alone.';
  if (n === 0) return 'No: there are too few runs to evaluate. Search ranks by text alone.';
  const figures = figuresOf(gain, ci95);
  if (open) return `Yes: on the newest runs, the trained ranker is better than search alone, ${figures}.`;
  return ci95[0] > 0 && far.gain < 0
    ? 'No: the trained ranker is better on familiar questions but worse on unseen ones. Search ranks by text.'
    : `No: the trained ranker has not been shown to beat search alone, ${figures}. Search ranks by text.`;
}
