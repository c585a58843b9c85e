import { signal } from '@preact/signals';
import type { Learning } from '../../../shared/api-types.ts';
import { ApiError, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { toast } from '../../components/toast.tsx';
import { number, plural } from '../../format.ts';
import { ProgressBar } from './progress-bar.tsx';

/** The training this browser asked for. The gateway ends it when nobody waits for it any more. */
const own = signal<AbortController | null>(null);

const STAGES: Readonly<Record<string, string>> = {
  judging: 'Judging on runs it has not learned from',
  features: 'Looking back on past runs',
  training: 'Training',
};

export function TrainButton({ of, onDone }: { of: Learning; onDone: () => void }) {
  const isTooFew = of.runs < of.least_runs;
  return (
    <Button
      needs="manage"
      kind="primary"
      icon="spark"
      disabled={isTooFew || of.training !== null || own.value !== null}
      {...(isTooFew && { title: `It takes ${of.least_runs} runs; there are ${of.runs}` })}
      onClick={() => void train(of, onDone)}
    >
      {of.training || own.value ? 'Training…' : 'Train now'}
    </Button>
  );
}

export function TrainingProgress({
  of: { stage, done, total, loss },
}: {
  of: NonNullable<Learning['training']>;
}) {
  return (
    <div class="learning-progress">
      <div class="learning-progress-line">
        <span class="strong">{STAGES[stage] ?? stage}</span>
        <span class="number muted">
          {number(done)} of {number(total)}
          {loss !== undefined && `, loss ${loss.toFixed(3)}`}
        </span>
        {own.value && <Button onClick={() => own.value?.abort()}>Stop</Button>}
      </div>
      <ProgressBar label="Training" done={done} total={total} />
    </div>
  );
}

async function train(before: Learning, onDone: () => void): Promise<void> {
  const asked = new AbortController();
  own.value = asked;
  try {
    const after = await postJson<Learning>('/learning/train', {}, asked.signal);
    const [newest] = after.history;
    if (newest && newest.trained_at !== before.history[0]?.trained_at)
      toast(`Learned from ${plural(newest.runs, 'run')} in ${newest.seconds.toFixed(1)} s`);
    else toast('Nothing was learned: too few of the runs used tools that are still there', 'bad');
  } catch (thrown) {
    const { code, message } = ApiError.from(thrown);
    if (code === 'cancelled') toast('Stopped. Nothing has changed.');
    else toast(message, 'bad');
  } finally {
    own.value = null;
    onDone();
  }
}
