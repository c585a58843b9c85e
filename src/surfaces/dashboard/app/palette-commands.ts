import { useMemo } from 'preact/hooks';
import type { Graph, Traces } from '../shared/api-types.ts';
import { href } from '../shared/routes.ts';
import { getJson, postJson } from './api.ts';
import type { IconName } from './components/badge.tsx';
import { tellingOutcome } from './components/toast.tsx';
import { moment, shownLine } from './format.ts';
import { useCapabilities } from './overview.ts';
import { useResource } from './resource.ts';
import { navigate } from './router.ts';
import { switchTheme } from './theme.ts';
import { refusal, shownPages } from './who.ts';

const DEFAULTS = { runs: 100 };

/** An action or destination of the palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  run(): void;
}

/** Pages and actions. */
export function ownCommands(onHelp: () => void): Command[] {
  const action = (title: string, icon: IconName, run: () => void): Command => ({
    id: `action ${title}`,
    title,
    kind: 'Action',
    icon,
    run,
  });
  return [
    ...shownPages().map(({ name, title, path }) => ({
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
export function useKnown(): readonly Command[] {
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

export function searchCommand(text: string): Command {
  const run = () => navigate(href.search(text));
  return { id: 'search', title: `Find tools for “${text.trim()}”`, kind: 'Search', icon: 'search', run };
}
