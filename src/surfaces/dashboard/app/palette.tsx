import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from './components/icon.tsx';
import { type Command, matching, ownCommands, useKnown } from './palette-commands.ts';

/** Everything by name: pages, tools, capabilities, runs and actions. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const known = useKnown();
  const commands = useMemo(() => [...ownCommands(onHelp), ...known], [known, onHelp]);
  const found = useMemo(() => matching(commands, text), [commands, text]);
  // By name rather than by place: what comes in meanwhile must not get the Enter that was meant for another.
  const at = Math.max(
    0,
    found.findIndex(({ id }) => id === chosen),
  );
  useEffect(() => dialog.current?.showModal(), []);
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
        <div id="palette-list" class="palette-list" role="listbox" aria-label="Found" ref={list}>
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
