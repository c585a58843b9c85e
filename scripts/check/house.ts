/**
 * The rooms of the house and the arrows between them. ARCHITECTURE.md has the same table for people;
 * a test keeps the two equal.
 */
export interface Room {
  /** Paths under `src/`: folders end in `/`, everything else is a single file. */
  readonly at: readonly string[];
  /** Rooms it may import besides itself; `core/*` is every room of core. */
  readonly imports: readonly string[];
  /** The npm packages it may import; `graphology*` matches every name with this beginning. */
  readonly packages: readonly string[] | 'any';
  /** Whether it may import Node's own modules. */
  readonly builtins: boolean;
}

type Permissions = Omit<Room, 'at'>;

const closed = (imports: readonly string[], packages: readonly string[] = []): Permissions => ({
  imports,
  packages,
  builtins: false,
});
const open = (imports: readonly string[]): Permissions => ({ imports, packages: 'any', builtins: true });

const core = (neighbours: readonly string[], packages: readonly string[] = []) =>
  closed(
    neighbours.map((name) => `core/${name}`),
    packages,
  );
const adapter = open(['core/*', 'engine/ports']);
const surface = open(['core/vocabulary', 'engine/*', 'operations']);

const TABLE: Readonly<Record<string, Permissions & { at?: readonly string[] }>> = {
  'core/vocabulary': core([]),
  'core/numeric': core([]),
  'core/tracing': core(['vocabulary']),
  'core/structure': core(['vocabulary'], ['oxc-*', '@jridgewell/trace-mapping']),
  'core/policy': core(['vocabulary']),
  'core/retrieval': core(['vocabulary', 'numeric'], ['fastest-levenshtein']),
  'core/capabilities': core(
    ['vocabulary', 'structure', 'tracing'],
    ['oxc-parser', 'oxc-walker', '@cfworker/json-schema'],
  ),
  'core/graph': core(['vocabulary', 'numeric', 'tracing'], ['graphology*']),
  'core/learning': core(['vocabulary', 'numeric', 'tracing', 'retrieval']),
  'core/planning': core(
    ['vocabulary', 'numeric', 'structure', 'retrieval', 'graph', 'learning', 'capabilities'],
    ['oxc-parser', 'oxc-walker'],
  ),

  engine: closed(['core/*', 'engine/ports'], ['lru-cache']),
  'engine/ports': { ...closed(['core/*']), at: ['engine/ports.ts', 'engine/ports/'] },
  'engine/guest': closed(['core/*', 'engine/ports']),

  operations: closed(['core/vocabulary', 'core/capabilities', 'core/tracing', 'engine/*'], ['zod']),

  'adapters/sandbox': open([...adapter.imports, 'engine/guest']),
  'adapters/training': adapter,
  'adapters/embedding': adapter,
  'adapters/store': adapter,
  'adapters/upstream': adapter,
  'adapters/telemetry': adapter,
  'adapters/config': adapter,
  'adapters/client': adapter,

  'surfaces/mcp': surface,
  'surfaces/http': surface,
  'surfaces/cli': surface,
  'surfaces/dashboard/server': open([...surface.imports, 'surfaces/dashboard/shared']),
  'surfaces/dashboard/shared': closed(['core/vocabulary', 'operations']),
  'surfaces/dashboard/app': { ...open(['surfaces/dashboard/shared']), builtins: false },

  client: { ...open(['core/vocabulary', 'operations']), at: ['client.ts'] },
  evaluation: open(['core/*', 'engine/*']),
  compose: {
    ...open(['core/*', 'engine/*', 'operations', 'adapters/*', 'surfaces/*', 'evaluation']),
    at: ['compose.ts', 'compose/'],
  },
  main: { ...open(['compose', 'surfaces/cli']), at: ['main.ts'] },
};

export const ROOMS: Readonly<Record<string, Room>> = Object.fromEntries(
  Object.entries(TABLE).map(([name, { at, ...permissions }]) => [
    name,
    { at: at ?? [`${name}/`], ...permissions },
  ]),
);

/** The room of a path under `src/`; the innermost wins, so `engine/ports/clock.ts` is in `engine/ports`. */
export function roomOf(path: string): string | undefined {
  const stands = Object.entries(ROOMS).flatMap(([name, room]) => room.at.map((place) => ({ name, place })));
  return stands
    .filter(({ place }) => (place.endsWith('/') ? path.startsWith(place) : path === place))
    .sort((a, b) => b.place.length - a.place.length)[0]?.name;
}

/** `core/*` matches every name that starts with `core/`, and `engine/*` also matches `engine`. */
export function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    if (!pattern.endsWith('*')) return pattern === name;
    return name.startsWith(pattern.slice(0, -1)) || `${name}/*` === pattern;
  });
}

/** What a test may import in addition to its room's arrows: all lower floors. */
export function lowerFloors(room: string): readonly string[] {
  return room.startsWith('core/') ? [] : ['core/*', 'engine/*'];
}
