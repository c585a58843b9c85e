import type { Learning } from '../../../shared/api-types.ts';
import { Badge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { duration, number, plural } from '../../format.ts';
import { signed } from './signed.ts';

type Training = Learning['history'][number];

/** Trainings that are kept, newest first; the first one is in use. */
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
            title: 'Beside search',
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
            title: 'Foreign questions',
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
