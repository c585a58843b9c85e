import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Capabilities, Graph, Traces } from '../shared/api-types.ts';
import { href, PAGES } from '../shared/routes.ts';
import { getJson } from './api.ts';
import { Icon, type IconName } from './components/icon.tsx';
import { useCapabilities } from './overview.ts';
import { useResource } from './resource.ts';
import { navigate } from './router.ts';
import { shownLine } from './shown-text.ts';
import { switchTheme } from './theme.ts';

const DEFAULTS = { shown: 12, runs: 100 };

interface Command {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  run(): void;
}

/** Everything by name: pages, tools, capabilities, runs and actions. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const known = useKnown();
  const commands = useMemo(() => [...ownCommands(onHelp), ...known], [known, onHelp]);
  const found = useMemo(() => matching(commands, text), [commands, text]);
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
      setAt((at + step + found.length) % Math.max(1, found.length));
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
              setAt(0);
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
              onMouseMove={() => setAt(i)}
              onClick={() => choose(command)}
            >
              <Icon name={command.icon} size={16} />
              <span class="palette-title">{command.title}</span>
              <span class="palette-kind">{command.kind}</span>
            </div>
          ))}
          {found.length === 0 && <p class="palette-none">Nothing is called that.</p>}
        </div>
      </div>
    </dialog>
  );
}

function ownCommands(onHelp: () => void): Command[] {
  return [
    ...PAGES.map(({ name, title, path }) => ({
      id: `page ${name}`,
      title,
      kind: 'Page',
      icon: name,
      run: () => navigate(path),
    })),
    { id: 'theme', title: 'Switch between light and dark', kind: 'Action', icon: 'sun', run: switchTheme },
    { id: 'help', title: 'Keyboard shortcuts', kind: 'Action', icon: 'keyboard', run: onHelp },
  ];
}

function useKnown(): readonly Command[] {
  const graph = useResource<Graph>('graph', { load: (signal) => getJson('/graph', {}, signal) });
  const capabilities = useCapabilities();
  const traces = useResource<Traces>('palette traces', {
    load: (signal) => getJson('/traces', { limit: DEFAULTS.runs }, signal),
  });
  const [nodes, skills, runs] = [graph, capabilities, traces].map(({ state }) => state.value.data) as [
    Graph | undefined,
    Capabilities | undefined,
    Traces | undefined,
  ];
  return useMemo(
    () => [
      ...(nodes?.nodes ?? [])
        .filter(({ kind }) => kind === 'tool')
        .map(({ id }) => ({
          id,
          title: shownLine(id, 90),
          kind: 'Tool',
          icon: 'graph' as const,
          run: () => navigate(href.graph({ node: id })),
        })),
      ...(skills?.capabilities ?? []).map(({ slug }) => ({
        id: `capability ${slug}`,
        title: slug,
        kind: 'Capability',
        icon: 'capabilities' as const,
        run: () => navigate(href.capability(slug)),
      })),
      ...(runs?.traces ?? []).map(({ id, intent_text, executed_path }) => ({
        id: `run ${id}`,
        title: shownLine(intent_text ?? executed_path.join(' → '), 90) || id,
        kind: 'Run',
        icon: 'runs' as const,
        run: () => navigate(href.run(id)),
      })),
    ],
    [nodes, skills, runs],
  );
}

/** Every word somewhere in the title; those that begin with the text first. */
function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = commands.filter(({ title, kind }) => {
    const name = `${title} ${kind}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const first = words[0] ?? '';
  const isFirst = ({ title }: Command) => (first !== '' && title.toLowerCase().startsWith(first) ? 0 : 1);
  return hits.sort((a, b) => isFirst(a) - isFirst(b)).slice(0, DEFAULTS.shown);
}
