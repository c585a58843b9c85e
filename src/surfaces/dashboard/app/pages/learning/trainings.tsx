import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { Learning } from '../../../shared/api-types.ts';
import { ApiError, postJson } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Time } from '../../components/time.tsx';
import { tellingOutcome, toast } from '../../components/toast.tsx';
import { duration, moment, number, plural } from '../../format.ts';
import { ProgressBar, signed } from './learning-charts.tsx';

type Training = Learning['history'][number];

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

/** Rolls back to the previous training after confirmation. */
export function RollBack({ of: { history }, onDone }: { of: Learning; onDone: (after: Learning) => void }) {
  const [isAsking, setAsking] = useState(false);
  const before = history[1];
  const rollBack = async () => {
    const after = await tellingOutcome(postJson<Learning>('/learning/rollback'), 'Rolled back');
    setAsking(false);
    if (after) onDone(after);
  };
  return (
    <>
      <Button needs="manage" onClick={() => setAsking(true)}>
        Roll back…
      </Button>
      {isAsking && (
        <Dialog
          title="Roll back?"
          onClose={() => setAsking(false)}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Keep it</Button>
              <Button kind="danger" onClick={() => void rollBack()}>
                Roll back
              </Button>
            </>
          }
        >
          <p>
            This deletes the newest training.{' '}
            {before
              ? `The training on ${plural(before.runs, 'run')} from ${moment(before.trained_at)} is used again.`
              : 'No earlier training exists, so search will rank by text alone.'}{' '}
            The runs are kept. The next training starts after the usual number of new runs.
          </p>
        </Dialog>
      )}
    </>
  );
}

/** Stored trainings, newest first; the first one is in use. */
export function TrainingHistory({ of: history }: { of: readonly Training[] }) {
  return (
    <Panel title={plural(history.length, 'training')} flush>
      <DataTable
        label="Trainings"
        rows={history}
        keyOf={({ trained_at }) => trained_at}
        columns={[
          {
            title: 'When',
            cell: (training) => (
              <>
                <Time at={training.trained_at} />{' '}
                {training === history[0] && <Badge tone="accent">in use</Badge>}
              </>
            ),
          },
          { title: 'Runs', isNumber: true, cell: ({ runs }) => number(runs) },
          { title: 'Gate', cell: ({ gate }) => (gate.open ? 'open' : 'closed') },
          {
            title: 'vs. search',
            isNumber: true,
            cell: ({ gate }) => (gate.n === 0 ? '–' : signed(gate.gain)),
          },
          {
            title: '95 % interval',
            isNumber: true,
            isExtra: true,
            cell: ({ gate: { n, ci95 } }) => (n === 0 ? '–' : `${signed(ci95[0])} to ${signed(ci95[1])}`),
          },
          {
            title: 'Unseen questions',
            isNumber: true,
            isExtra: true,
            cell: ({ gate: { far } }) => (far.n === 0 ? '–' : signed(far.gain)),
          },
          {
            title: 'Loss',
            isNumber: true,
            isExtra: true,
            cell: ({ loss }) => (loss === null ? '–' : loss.toFixed(3)),
          },
          { title: 'Took', isNumber: true, isExtra: true, cell: ({ seconds }) => duration(seconds * 1000) },
        ]}
      />
    </Panel>
  );
}
