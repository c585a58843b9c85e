import type { Approval, Runs } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson, postJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Panel } from '../../components/panel.tsx';
import { Ago } from '../../components/time.tsx';
import { tellingOutcome } from '../../components/toast.tsx';
import { useResource } from '../../resource.ts';
import { shownLine, shownText } from '../../shown-text.ts';

/** What waits for a person, with the exact call. Nothing is shown when nothing waits. */
export function Approvals() {
  const runs = useResource<Runs>('runs', {
    load: (signal) => getJson('/runs', { limit: 50 }, signal),
    reloadOn: ({ type }) =>
      type === 'approval_requested' ||
      type === 'approval_settled' ||
      type === 'task_changed' ||
      type === 'run_finished',
  });
  const waiting = (runs.state.value.data?.runs ?? []).flatMap(({ approvals }) =>
    approvals.filter(({ state }) => state === 'pending'),
  );
  if (waiting.length === 0) return null;
  return (
    <Panel title={`Waiting for you (${waiting.length})`}>
      <ul class="approvals">
        {waiting.map((approval) => (
          <ApprovalItem key={approval.approval_id} approval={approval} onSettled={runs.reload} />
        ))}
      </ul>
    </Panel>
  );
}

function ApprovalItem({ approval, onSettled }: { approval: Approval; onSettled: () => void }) {
  const settle = async (decision: 'approve' | 'reject', done: string) => {
    const path = `/runs/${encodeURIComponent(approval.run_id)}/${decision}`;
    await tellingOutcome(postJson(path, { approval_ids: [approval.approval_id] }), done);
    onSettled();
  };
  const name = shownLine(approval.node, 80);
  return (
    <li class="approval">
      <div class="approval-call">
        <p>
          <a class="mono strong" href={href.workflow(approval.run_id)}>
            {name}
          </a>{' '}
          <span class="muted">
            <Ago at={approval.requested_at} />
          </span>
        </p>
        <p class="muted">{shownText(approval.reason)}</p>
        <JsonView value={approval.arguments} depth={1} />
      </div>
      <div class="row">
        <Button kind="primary" icon="check" onClick={() => settle('approve', 'Approved')}>
          Approve<span class="hidden"> {name}</span>
        </Button>
        <Button kind="danger" icon="cross" onClick={() => settle('reject', 'Rejected')}>
          Reject<span class="hidden"> {name}</span>
        </Button>
      </div>
    </li>
  );
}
