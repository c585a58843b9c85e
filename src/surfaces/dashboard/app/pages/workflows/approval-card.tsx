import { useState } from 'preact/hooks';
import type { Approval } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import type { ListedRun } from '../../../shared/run-types.ts';
import { Button } from '../../components/button.tsx';
import { ExactCall } from '../../components/exact-call.tsx';
import { Icon } from '../../components/icon.tsx';
import { ago } from '../../format.ts';
import { shownLine, shownText } from '../../shown-text.ts';
import { EditDialog } from './edit-dialog.tsx';
import { approve, reject, taskOf } from './workflow-runs.ts';

/** One question: the exact call, the rule that asked, and what can be answered. */
export function ApprovalCard({
  run,
  approval,
  linksToRun = true,
}: {
  run: ListedRun;
  approval: Approval;
  linksToRun?: boolean;
}) {
  const [isEditing, setEditing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const task = taskOf(run, approval);
  const isPaused = run.status === 'paused';
  const answer = async (work: Promise<void>) => {
    setBusy(true);
    await work;
    setBusy(false);
  };
  return (
    <article class="approval" aria-label={`Approval of ${shownLine(approval.node, 80)}`}>
      <header class="approval-head">
        <span class="approval-icon">
          <Icon name="hand" />
        </span>
        <div>
          <h3 class="mono">{shownText(approval.node)}</h3>
          <p class="muted">
            {task && run.kind === 'workflow' && (
              <>
                task <strong>{shownLine(task, 60)}</strong>,{' '}
              </>
            )}
            asked {ago(approval.requested_at)}
            {linksToRun && (
              <>
                {' for '}
                <a href={href.workflow(run.run_id)}>{shownLine(run.intent ?? 'a run without intent', 90)}</a>
              </>
            )}
          </p>
        </div>
      </header>
      <p class="approval-rule">
        <span class="faint">Asked because</span> {shownText(approval.reason)}
      </p>
      <ExactCall approval={approval} />
      <div class="row">
        <Button
          needs="decide"
          kind="primary"
          icon="check"
          disabled={isBusy || approval.is_exact === false}
          onClick={() => void answer(approve(run, approval, true))}
        >
          {isPaused ? 'Approve and go on' : 'Approve'}
        </Button>
        {approval.definition_changes && (
          <Button
            needs="decide"
            disabled={isBusy}
            onClick={() => void answer(approve(run, approval, true, true))}
            title="Its later calls are not asked about because of this change"
          >
            Approve and accept the change
          </Button>
        )}
        <Button
          needs="decide"
          kind="danger"
          icon="cross"
          disabled={isBusy}
          onClick={() => void answer(reject(run, approval))}
        >
          Reject
        </Button>
        {isPaused && (
          <>
            <Button needs="decide" disabled={isBusy} onClick={() => setEditing(true)}>
              Edit arguments
            </Button>
            <Button
              needs="decide"
              kind="quiet"
              disabled={isBusy || approval.is_exact === false}
              onClick={() => void answer(approve(run, approval, false))}
              title="Whoever asked goes on with it"
            >
              Approve only
            </Button>
          </>
        )}
        {!isPaused && (
          <span class="faint">
            Whoever asked is waiting and goes on at once. Arguments can be edited afterwards.
          </span>
        )}
      </div>
      {isEditing && (
        <EditDialog run={run} task={task} approval={approval} onClose={() => setEditing(false)} />
      )}
    </article>
  );
}
