import { ApprovalItem } from '../../components/approval-item.tsx';
import { Panel } from '../../components/panel.tsx';
import { useWaiting } from '../../overview.ts';

/** What waits for a person, with the exact call. Nothing is shown when nothing waits. */
export function Approvals() {
  const { waiting, reload } = useWaiting();
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for you (${waiting.length})`}>
      <ul class="waiting-list">
        {waiting.map((approval) => (
          <ApprovalItem key={approval.approval_id} approval={approval} onSettled={reload} />
        ))}
      </ul>
    </Panel>
  );
}
