import type { Approval } from '../../shared/api-types.ts';
import { href } from '../../shared/routes.ts';
import { postJson } from '../api.ts';
import { shownLine, shownText } from '../shown-text.ts';
import { Button } from './button.tsx';
import { ExactCall } from './exact-call.tsx';
import { Ago } from './time.tsx';
import { tellingOutcome } from './toast.tsx';

/** One exact call that waits for a person, who settles it here. */
export function ApprovalItem({
  approval,
  isSettled,
  onSettled,
}: {
  approval: Approval;
  /** It is still shown, but waits no more. */
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
