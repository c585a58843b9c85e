import { useId, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { shownText } from '../../shown-text.ts';

/** A dialog that asks for one line of text. */
export function AskText({
  title,
  label,
  hint,
  initial,
  submit,
  onClose,
  onSubmit,
}: {
  title: string;
  label: string;
  hint: string;
  initial: string;
  submit: string;
  onClose: () => void;
  /** Answers what is wrong, if anything. */
  onSubmit: (text: string) => Promise<string | undefined>;
}) {
  const id = useId();
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string>();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} kind="primary" disabled={text.trim() === ''}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="form-field"
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit(text.trim()).then(setProblem);
        }}
      >
        <label for={`${id}-text`}>{label}</label>
        <input
          id={`${id}-text`}
          type="text"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          aria-invalid={problem !== undefined}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class="form-problem" role="alert">
          {problem && shownText(problem)}
        </p>
        <p id={`${id}-hint`} class="form-about">
          {hint}
        </p>
      </form>
    </Dialog>
  );
}
