import { useId, useState } from 'preact/hooks';
import type { Approval } from '../../../shared/api-types.ts';
import type { ListedRun } from '../../../shared/run-types.ts';
import { ApiError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { shownLine, shownText } from '../../shown-text.ts';
import { edit } from './workflow-runs.ts';

/** Other arguments for a call that waits. It is another call then, and is asked about anew. */
export function EditDialog({
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
      toast('The call was changed and is asked about anew');
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
          These take the place of what the agent gave <code>{shownLine(approval.node, 80)}</code>. It does not
          run yet: the changed call is asked about anew.
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
  throw new Error('Arguments are an object, such as {"path": "notes.md"}');
}
