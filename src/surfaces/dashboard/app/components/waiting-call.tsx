import { useWaiting } from '../overview.ts';
import { ApprovalItem } from './approval-item.tsx';
import { SteadyRows } from './steady-rows.tsx';

/** While something runs: what of it waits for a person, who may be the one that looks. */
export function WaitingCall({ nodes }: { nodes: readonly string[] }) {
  const { waiting, reload } = useWaiting();
  const own = waiting.filter(({ node }) => nodes.includes(node));
  if (own.length === 0) return null;
  return (
    <section class="outcome" aria-label="Waiting for you">
      <SteadyRows rows={own} keyOf={({ approval_id }) => approval_id}>
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
    </section>
  );
}
