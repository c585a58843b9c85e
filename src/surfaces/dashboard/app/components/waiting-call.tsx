import { useWaiting } from '../overview.ts';
import { ApprovalItem } from './approval-item.tsx';

/** While something runs: what of it waits for a person, who may be the one that looks. */
export function WaitingCall({ nodes }: { nodes: readonly string[] }) {
  const { waiting, reload } = useWaiting();
  const own = waiting.filter(({ node }) => nodes.includes(node));
  if (own.length === 0) return null;
  return (
    <section class="outcome" aria-label="Waiting for you">
      <ul class="waiting-list">
        {own.map((approval) => (
          <ApprovalItem key={approval.approval_id} approval={approval} onSettled={reload} />
        ))}
      </ul>
    </section>
  );
}
