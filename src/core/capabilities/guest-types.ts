import {
  block,
  type CallableCapability,
  type CallableTool,
  capabilitySignature,
  memberKey,
  toolSignature,
} from './tool-signature.ts';

const DEFAULTS = {
  /** Characters of a name; what has a longer one is left out. */
  maxName: 1_024,
};

/** What a program can call. */
export interface CallableNames {
  readonly tools: readonly {
    readonly tool: CallableTool;
    /** JSON Schema of what it gave so far. */
    readonly observedOutput?: unknown;
  }[];
  readonly capabilities: readonly CallableCapability[];
}

/** By its first line, "pml types" recognises a file of its own. */
const HEAD = '// Types of what a program sees in PML, written by "pml types".';

/**
 * A declaration file of the names that a program sees. With `known`, exactly these tools and capabilities can be
 * called, with their types; without, any.
 */
export function guestTypes(known?: CallableNames): string {
  const any = ['readonly [name: string]: (args?: Readonly<Record<string, unknown>>) => Promise<any>;'];
  const servers = known ? serversOf(known) : [`readonly [server: string]: ${block(any)};`];
  const capabilities = known?.capabilities
    .filter(({ slug }) => isMember(slug))
    .map((capability) => capabilitySignature(capability, 'block'));
  return `${HEAD}

/** The tools of each server: \`mcp.<server>.<tool>(args)\`. */
export interface Mcp ${block(servers)}

/** What PML learned from past runs: \`capabilities.<slug>(args)\`. */
export interface Capabilities ${block(capabilities ?? any)}
${GLOBALS}`;
}

function serversOf({ tools }: CallableNames): string[] {
  const offered = tools.filter(({ tool }) => isMember(tool.server) && isMember(tool.name));
  return [...Map.groupBy(offered, ({ tool }) => tool.server)].map(([server, own]) => {
    const members = own.map(({ tool, observedOutput }) => toolSignature(tool, observedOutput, 'block'));
    return `readonly ${memberKey(server)}: ${block(members)};`;
  });
}

/** `then` and `toJSON` are not members when a program runs: the language asks for them by itself. */
function isMember(name: string): boolean {
  return name !== 'then' && name !== 'toJSON' && name.length <= DEFAULTS.maxName;
}

const GLOBALS = `
declare global {
  const mcp: Mcp;
  const capabilities: Capabilities;
  /** The arguments of the run. */
  const args: Readonly<Record<string, any>>;
  /** In a task of a workflow: the results of the tasks it depends on, by their ids. */
  const deps: Readonly<Record<string, any>>;
  /** Its lines are returned with the result. */
  interface Console {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
    debug(...values: unknown[]): void;
  }
  var console: Console;
  /** What a failing tool or capability throws. */
  interface CallError extends Error {
    readonly code: string;
    readonly errorType?: string;
    /** Which one, as \`server:tool\`. */
    readonly tool?: string;
    readonly capability?: string;
  }
}
`;
