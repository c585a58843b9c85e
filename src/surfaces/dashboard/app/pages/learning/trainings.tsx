import { signal } from '@preact/signals';
import type { Learning } from '../../../shared/api-types.ts';
import { ApiError, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { toast } from '../../components/toast.tsx';
import { number, plural } from '../../format.ts';
import { ProgressBar } from './learning-charts.tsx';

/** The training this browser started. The gateway stops it when the request is aborted. */
const own = signal<AbortController | null>(null);

const STAGES: Readonly<Record<string, string>> = {
  judging: 'Evaluating on runs not used for training',
  features: 'Preparing past runs',
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
      {...(isTooFew && { title: `Training needs ${of.least_runs} runs; there are ${of.runs}` })}
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
      toast(`Trained on ${plural(newest.runs, 'run')} in ${newest.seconds.toFixed(1)} s`);
    else toast('Nothing was trained: too few of the runs used tools that still exist', 'bad');
  } catch (thrown) {
    const { code, message } = ApiError.from(thrown);
    if (code === 'cancelled') toast('Stopped. Nothing was changed.');
    else toast(message, 'bad');
  } finally {
    own.value = null;
    onDone();
  }
}
