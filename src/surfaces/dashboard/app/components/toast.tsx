import { signal } from '@preact/signals';
import { ApiError } from '../api.ts';
import { shownText } from '../format.ts';
import { Icon } from './badge.tsx';
import { Button } from './button.tsx';

const DEFAULTS = { shownMs: 6_000 };

interface Note {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const notes = signal<readonly Note[]>([]);
let count = 0;

/** A short message about a completed action; never the only place where something is shown. */
export function toast(text: string, tone: Note['tone'] = 'good'): void {
  const id = ++count;
  notes.value = [...notes.value, { id, text, tone }];
  setTimeout(() => dismiss(id), DEFAULTS.shownMs);
}

/** Awaits `work` and shows its outcome as a toast. Returns undefined if it failed. */
export async function tellingOutcome<T>(work: Promise<T>, done: string): Promise<T | undefined> {
  try {
    const value = await work;
    toast(done);
    return value;
  } catch (thrown) {
    const { message, hint } = ApiError.from(thrown);
    toast(hint ? `${message}. ${hint}` : message, 'bad');
    return undefined;
  }
}

function dismiss(id: number): void {
  notes.value = notes.value.filter((note) => note.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {notes.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <span>{shownText(text)}</span>
          <Button kind="quiet" icon="cross" aria-label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
