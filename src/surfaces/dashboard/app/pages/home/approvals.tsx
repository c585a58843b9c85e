import { ApprovalItem } from '../../components/approval-item.tsx';
import { Panel } from '../../components/panel.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { useWaiting } from '../../overview.ts';

/** What waits for a person, with the exact call. Nothing is shown when nothing waits. */
export function Approvals() {
  const { waiting, reload } = useWaiting();
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for you (${waiting.length})`}>
      <SteadyRows rows={waiting} keyOf={({ approval_id }) => approval_id}>
        {(steady, isGone) => (
          <ul class="waiting-list">
            {steady.map((approval) => (
              <ApprovalItem
                key={approval.approval_id}
                approval={approval}
                isSettled={isGone(approval)}
                onSettled={reload}
              />
            ))}
          </ul>
        )}
      </SteadyRows>
    </Panel>
  );
}
