import { useId, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';

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
  onSubmit: (text: string) => Promise<void>;
}) {
  const id = useId();
  const [text, setText] = useState(initial);
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
          void onSubmit(text.trim());
        }}
      >
        <label for={`${id}-text`}>{label}</label>
        <input
          id={`${id}-text`}
          type="text"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-hint`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p id={`${id}-hint`} class="form-about">
          {hint}
        </p>
      </form>
    </Dialog>
  );
}
