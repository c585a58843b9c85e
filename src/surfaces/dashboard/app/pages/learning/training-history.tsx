import { useState } from 'preact/hooks';
import type { Learning } from '../../../shared/api-types.ts';
import { postJson } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Panel } from '../../components/page-layout.tsx';
import { Time } from '../../components/time.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { duration, moment, number, plural } from '../../format.ts';
import { signed } from './learning-charts.tsx';

type Training = Learning['history'][number];

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
