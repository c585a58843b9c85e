import type { Traces } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Panel } from '../../components/panel.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { Duration, Time } from '../../components/time.tsx';
import { useResource } from '../../resource.ts';
import { shownLine } from '../../shown-text.ts';

const DEFAULTS = { shown: 6 };

export function RecentRuns() {
  const recent = useResource<Traces>('recent traces', {
    load: (signal) => getJson('/traces', { limit: DEFAULTS.shown }, signal),
    reloadOn: ({ type }) => type === 'run_finished',
  });
  return (
    <Panel title="Latest runs" flush actions={<a href={href.runs()}>All runs</a>}>
      <Await of={recent.state.value} retry={recent.reload} lines={DEFAULTS.shown}>
        {({ traces }) =>
          traces.length === 0 ? (
            <EmptyState icon="runs" title="Nothing ran yet">
              What agents do through the gateway shows up here as it happens.
            </EmptyState>
          ) : (
            <DataTable
              label="Latest runs"
              rows={traces}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => href.run(id)}
              columns={[
                {
                  title: 'Intent',
                  cell: ({ intent_text, executed_path }) =>
                    shownLine(intent_text ?? executed_path.join(' → '), 80) || 'no calls',
                },
                {
                  title: 'Outcome',
                  cell: ({ success }) => <StatusBadge status={success ? 'success' : 'error'} />,
                },
                {
                  title: 'Took',
                  isNumber: true,
                  isExtra: true,
                  cell: (run) => <Duration ms={run.duration_ms} />,
                },
                { title: 'At', isNumber: true, isExtra: true, cell: (run) => <Time at={run.executed_at} /> },
              ]}
            />
          )
        }
      </Await>
    </Panel>
  );
}
