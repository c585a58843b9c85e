import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph, Traces } from '../shared/api-types.ts';
import { href, PAGES } from '../shared/routes.ts';
import { getJson, postJson } from './api.ts';
import { Icon, type IconName } from './components/badge.tsx';
import { tellingOutcome } from './components/toast.tsx';
import { moment, shownLine } from './format.ts';
import { useCapabilities } from './overview.ts';
import { useResource } from './resource.ts';
import { navigate } from './router.ts';
import { switchTheme } from './theme.ts';
import { refusal } from './who.ts';

const DEFAULTS = { shown: 12, runs: 100 };

/** An action or destination of the palette. */
interface Command {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  run(): void;
}

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

/** Pages and actions. */
function ownCommands(onHelp: () => void): Command[] {
  const action = (title: string, icon: IconName, run: () => void): Command => ({
    id: `action ${title}`,
    title,
    kind: 'Action',
    icon,
    run,
  });
  return [
    ...PAGES.map(({ name, title, path }) => ({
      id: `page ${name}`,
      title,
      kind: 'Page',
      icon: name,
      run: () => navigate(path),
    })),
    action('Switch between light and dark', 'sun', switchTheme),
    ...(refusal('manage')
      ? []
      : [
          action('Train the ranker now', 'learning', () => {
            void tellingOutcome(postJson('/learning/train'), 'The ranker was trained');
          }),
        ]),
    action('Keyboard shortcuts', 'keyboard', onHelp),
  ];
}

/** Tools, capabilities and runs, by name. */
function useKnown(): readonly Command[] {
  const graph = useResource<Graph>('graph', { load: (signal) => getJson('/graph', {}, signal) });
  const traces = useResource<Traces>('palette traces', {
    load: (signal) => getJson('/traces', { limit: DEFAULTS.runs }, signal),
  });
  const nodes = graph.state.value.data?.nodes;
  const capabilities = useCapabilities().state.value.data?.capabilities;
  const runs = traces.state.value.data?.traces;
  return useMemo(
    () => [
      ...(nodes ?? []).flatMap(({ id, kind }) => (kind === 'tool' ? [toolCommand(id)] : [])),
      ...(capabilities ?? []).map(({ slug }) => capabilityCommand(slug)),
      ...(runs ?? []).map(runCommand),
    ],
    [nodes, capabilities, runs],
  );
}

function toolCommand(id: string): Command {
  const run = () => navigate(href.graph({ node: id }));
  return { id, title: shownLine(id, 90), kind: 'Tool', icon: 'graph', run };
}

function capabilityCommand(slug: string): Command {
  const run = () => navigate(href.capability(slug));
  return {
    id: `capability ${slug}`,
    title: shownLine(slug, 90),
    kind: 'Capability',
    icon: 'capabilities',
    run,
  };
}

function runCommand({ id, intent_text, executed_path, executed_at }: Traces['traces'][number]): Command {
  const title = shownLine(intent_text ?? executed_path.join(' → '), 90) || id;
  const run = () => navigate(href.run(id));
  return { id: `run ${id}`, title, kind: `Run, ${moment(executed_at)}`, icon: 'runs', run };
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

function searchCommand(text: string): Command {
  const run = () => navigate(href.search(text));
  return { id: 'search', title: `Find tools for “${text.trim()}”`, kind: 'Search', icon: 'search', run };
}
