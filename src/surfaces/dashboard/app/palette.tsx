import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from './components/badge.tsx';
import { type Command, ownCommands, searchCommand, useKnown } from './palette-commands.ts';

const DEFAULTS = { shown: 12 };

/** Pages, tools, capabilities, runs and actions by name. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const known = useKnown();
  const commands = useMemo(() => [...ownCommands(onHelp), ...known], [known, onHelp]);
  const found = useMemo(() => matching(commands, text), [commands, text]);
  // Selected by name, not by index: a result that arrives meanwhile must not receive the Enter key.
  const at = Math.max(
    0,
    found.findIndex(({ id }) => id === chosen),
  );
  // Not after the next frame: what is typed until then would go to the page.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const choose = (command: Command | undefined) => {
    if (!command) return;
    dialog.current?.close();
    command.run();
  };
  const hear = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen(found[(at + step + found.length) % Math.max(1, found.length)]?.id ?? null);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[at]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Command palette"
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="palette-inside">
        <div class="palette-field">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Search pages, tools, capabilities, runs and actions"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={found[at] ? `palette-${at}` : undefined}
            placeholder="Pages, tools, capabilities, runs, actions…"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setChosen(null);
            }}
            onKeyDown={hear}
          />
        </div>
        <div id="palette-list" class="palette-list" role="listbox" aria-label="Results" ref={list}>
          {found.map((command, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
            <div
              key={command.id}
              id={`palette-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === at}
              onMouseMove={() => setChosen(command.id)}
              onClick={() => choose(command)}
            >
              <Icon name={command.icon} size={16} />
              <span class="palette-title">{command.title}</span>
              <span class="palette-kind">{command.kind}</span>
            </div>
          ))}
        </div>
      </div>
    </dialog>
  );
}

/** Commands whose titles contain every word; prefix matches first, and a search for the text last. */
function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = commands.filter(({ title, kind }) => {
    const name = `${title} ${kind}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const [first] = words;
  if (first === undefined) return hits.slice(0, DEFAULTS.shown);
  const rank = ({ title }: Command) => (title.toLowerCase().startsWith(first) ? 0 : 1);
  return [...hits.sort((a, b) => rank(a) - rank(b)).slice(0, DEFAULTS.shown - 1), searchCommand(text)];
}
