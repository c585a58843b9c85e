import type { Approval } from '../../shared/api-types.ts';
import { href } from '../../shared/routes.ts';
import { postJson } from '../api.ts';
import { shownLine, shownText } from '../format.ts';
import { useWaiting } from '../overview.ts';
import { Button } from './button.tsx';
import { ExactCall } from './exact-call.tsx';
import { SteadyRows } from './steady-rows.tsx';
import { Ago } from './time.tsx';
import { tellingOutcome } from './toast.tsx';

/** One exact call that waits for approval, with the buttons to decide. */
function ApprovalItem({
  approval,
  isSettled,
  onSettled,
}: {
  approval: Approval;
  /** Still shown, but already decided. */
  isSettled: boolean;
  onSettled: () => void;
}) {
  const settle = async (decision: 'approve' | 'reject', done: string) => {
    const path = `/runs/${encodeURIComponent(approval.run_id)}/${decision}`;
    await tellingOutcome(postJson(path, { approval_ids: [approval.approval_id] }), done);
    onSettled();
  };
  const name = shownLine(approval.node, 80);
  return (
    <li class="waiting-item">
      <div class="waiting-call">
        <p>
          <a class="mono strong" href={href.workflow(approval.run_id)}>
            {shownText(approval.node)}
          </a>{' '}
          <span class="muted">
            <Ago at={approval.requested_at} />
          </span>
        </p>
        <p class="muted">{shownText(approval.reason)}</p>
        <ExactCall approval={approval} />
      </div>
      <div class="row">
        <Button
          needs="decide"
          kind="primary"
          icon="check"
          disabled={isSettled || approval.is_exact === false}
          onClick={() => settle('approve', 'Approved')}
        >
          Approve<span class="hidden"> {name}</span>
        </Button>
        <Button
          needs="decide"
          kind="danger"
          icon="cross"
          disabled={isSettled}
          onClick={() => settle('reject', 'Rejected')}
        >
          Reject<span class="hidden"> {name}</span>
        </Button>
      </div>
    </li>
  );
}

/** Approvals needed by something that this page is running. */
export function WaitingCall({ nodes }: { nodes: readonly string[] }) {
  const { waiting, reload } = useWaiting();
  const own = waiting.filter(({ node }) => nodes.includes(node));
  if (own.length === 0) return null;
  return (
    <section class="outcome" aria-label="Waiting for you">
      <WaitingList approvals={own} onSettled={reload} />
    </section>
  );
}

/** Each with its buttons; rows stay where they are while a pointer is over them. */
export function WaitingList({
  approvals,
  onSettled,
}: {
  approvals: readonly Approval[];
  onSettled: () => void;
}) {
  return (
    <SteadyRows rows={approvals} keyOf={({ approval_id }) => approval_id}>
      {(steady, isGone) => (
        <ul class="waiting-list">
          {steady.map((approval) => (
            <ApprovalItem
              key={approval.approval_id}
              approval={approval}
              isSettled={isGone(approval)}
              onSettled={onSettled}
            />
          ))}
        </ul>
      )}
    </SteadyRows>
  );
}
