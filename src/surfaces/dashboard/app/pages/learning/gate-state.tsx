import type { Gate, Learning } from '../../../shared/api-types.ts';
import { Badge } from '../../components/badge.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { number, plural } from '../../format.ts';
import { shownLine } from '../../shown-text.ts';
import { Interval } from './interval.tsx';
import { signed } from './signed.ts';

/** Whether what was learned ranks, and why, in words. */
export function GateState({ of: { gate, model, embedding } }: { of: Learning }) {
  return (
    <Panel
      title="Does it rank?"
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
            <Interval gain={gate.gain} ci95={gate.ci95} reach={1} />
            <p class="muted">
              Search by text alone is at 0. Measured as nDCG@10, which is 1 when all the right tools come
              first, on the {plural(gate.n, 'newest run')}, none of which had been learned from.
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

function inWords({ open, gain, ci95, n }: Gate, isTrained: boolean): string {
  if (!isTrained) return 'No: nothing has been learned yet. Search ranks by text alone.';
  if (n === 0) return 'No: there are too few runs to judge by. Search ranks by text alone.';
  const figures = `${signed(gain)} (95 % interval ${signed(ci95[0])} to ${signed(ci95[1])})`;
  return open
    ? `Yes: on the newest runs, what was learned ranks better than search alone, ${figures}.`
    : `No: it is not proven that what was learned ranks better than search alone, ${figures}. Search ranks by text.`;
}
