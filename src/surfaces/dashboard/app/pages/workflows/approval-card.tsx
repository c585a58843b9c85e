import { useId, useState } from 'preact/hooks';
import type { Approval, ListedRun, StandingApproval } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError } from '../../api.ts';
import { Icon } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ExactCall } from '../../components/exact-call.tsx';
import { toast } from '../../components/toast.tsx';
import { ago, shownLine, shownText } from '../../format.ts';
import { refusal } from '../../who.ts';
import { approve, edit, reject, taskOf } from './workflow-runs.ts';

/** One approval: the exact call, the rule that requires it, and the possible decisions. */
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
  const [always, setAlways] = useState<'' | StandingApproval['scope']>('');
  const beyond = always === '' ? {} : { always };
  const task = taskOf(run, approval);
  const isPaused = run.status === 'paused';
  const answer = async (work: Promise<void>) => {
    setBusy(true);
    await work;
    setBusy(false);
  };
  const label = `Approval of ${shownLine(approval.node, 80)}`;
  const mayApprove = !isBusy && approval.is_exact !== false && refusal('decide') === null;
  /** Only on the card itself: typed anywhere within it, a letter is a letter. */
  const hear = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'a' && mayApprove) void answer(approve(run, approval, true, beyond));
    else if (event.key === 'x' && !isBusy && refusal('decide') === null) void answer(reject(run, approval));
    else if (event.key === 'e' && isPaused && mayApprove) setEditing(true);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go from card to card, and its keys decide
    <article class="approval" tabIndex={0} aria-label={label} onKeyDown={hear}>
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
      {refusal('decide') === null && !approval.program && (
        <label class="row">
          <span class="faint">An approval is for</span>
          <select value={always} onInput={(event) => setAlways(event.currentTarget.value as typeof always)}>
            <option value="">this call only</option>
            <option value="session">this tool, in this session</option>
            <option value="arguments">these arguments, always</option>
            <option value="tool">this tool, always</option>
          </select>
        </label>
      )}
      <div class="row">
        <Button
          needs="decide"
          kind="primary"
          icon="check"
          disabled={isBusy || approval.is_exact === false}
          onClick={() => void answer(approve(run, approval, true, beyond))}
        >
          {isPaused ? 'Approve and continue' : 'Approve'}
        </Button>
        {approval.definition_changes && (
          <Button
            needs="decide"
            disabled={isBusy}
            onClick={() => void answer(approve(run, approval, true, { ...beyond, accept_definition: true }))}
            title="Later calls will not need approval because of this change"
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
              onClick={() => void answer(approve(run, approval, false, beyond))}
              title="The caller continues it"
            >
              Approve only
            </Button>
          </>
        )}
        {!isPaused && (
          <span class="faint">
            The caller is waiting and continues at once. Arguments can be edited afterwards.
          </span>
        )}
      </div>
      {isEditing && (
        <EditDialog run={run} task={task} approval={approval} onClose={() => setEditing(false)} />
      )}
    </article>
  );
}

/** Changes the arguments of a waiting call. The result is a different call, which needs its own approval. */
function EditDialog({
  run,
  task,
  approval,
  onClose,
}: {
  run: ListedRun;
  task: string | undefined;
  approval: Approval;
  onClose: () => void;
}) {
  const id = useId();
  const [text, setText] = useState(() => JSON.stringify(approval.arguments, null, 2));
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await edit(run, task, readObject(text));
      toast('The changed call needs a new approval');
      onClose();
    } catch (thrown) {
      const { message, hint } = ApiError.from(thrown);
      setProblems([...message.split('; '), ...(hint ? [hint] : [])]);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Edit arguments"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={isBusy} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <div class="stack">
        <p class="muted">
          These replace the arguments that the agent gave to <code>{shownLine(approval.node, 80)}</code>. It
          does not run yet: the changed call needs a new approval.
        </p>
        <div class="edit-field">
          <label for={id}>Arguments as JSON</label>
          <textarea
            id={id}
            rows={Math.min(18, Math.max(6, text.split('\n').length + 1))}
            spellcheck={false}
            aria-invalid={problems.length > 0}
            aria-describedby={`${id}-problems`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <div id={`${id}-problems`} role="alert">
          {problems.length > 0 && (
            <ul class="edit-problems">
              {problems.map((problem) => (
                <li key={problem}>{shownText(problem)}</li>
              ))}
            </ul>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function readObject(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('Arguments must be an object, such as {"path": "notes.md"}');
}
