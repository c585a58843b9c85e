import type {
  GuestCallError,
  GuestEnd,
  GuestFailure,
  GuestHost,
  GuestMark,
  GuestOutcome,
  GuestProgram,
  GuestSite,
  SandboxOptions,
  SandboxSettings,
  WallHold,
} from '../../src/engine/ports.ts';

const LIMITS: SandboxSettings = {
  memoryMb: 128,
  cpuMs: 20_000,
  wallMs: 60_000,
  callsInFlight: 8,
  callsTotal: 200,
  argumentBytes: 1_000,
  resultBytes: 10_000,
  consoleBytes: 1_000,
};

export const START = Date.UTC(2026, 10, 1);

export const options = (limits: Partial<SandboxSettings> = {}): SandboxOptions => ({
  limits: { ...LIMITS, ...limits },
  seed: 'seed',
  startedAt: START,
});

/** As `prepareProgram` makes it, the code on a line of its own. */
export function program(code: string, parts: Partial<GuestProgram> = {}): GuestProgram {
  const script = `(async function (mcp, capabilities, args, deps, console, $pml) {"use strict";\n${code}\n})`;
  return { name: 'program.ts', sites: [], args: null, deps: null, ...parts, script };
}

export const operation = (name: string): GuestSite => ({ kind: 'operation', operation: name });
export const decision = (node: string): GuestSite => ({ kind: 'decision', node });

export interface Heard {
  readonly frame: number;
  readonly call: string;
  readonly args: unknown;
  readonly at: number;
}

type Tool = (args: never, hold: WallHold, frame: number) => unknown;

/** A host that answers from tables, and remembers all it was told. */
export interface TableHost extends GuestHost {
  readonly calls: Heard[];
  readonly entered: { readonly frame: number; readonly slug: string; readonly parent: number }[];
  readonly left: { readonly frame: number; readonly end: GuestEnd }[];
  readonly marks: (GuestMark & { readonly frame: number })[];
}

export class ToolFailure extends Error {
  readonly told: GuestCallError;

  constructor(told: GuestCallError) {
    super(told.message);
    this.told = told;
  }
}

/** Every answer moves the guest's clock on by a second. */
export function tableHost(
  tools: Record<string, Tool> = {},
  capabilities: Record<string, string | GuestProgram> = {},
): TableHost {
  const calls: Heard[] = [];
  const entered: TableHost['entered'] = [];
  const left: TableHost['left'] = [];
  const marks: TableHost['marks'] = [];
  let now = START;
  let frames = 0;
  const tick = () => {
    now += 1_000;
    return now;
  };
  return {
    calls,
    entered,
    left,
    marks,
    async callTool(frame, { server, tool, args }, hold) {
      const name = `${server}:${tool}`;
      calls.push({ frame, call: name, args, at: performance.now() });
      const known = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (!known) return { ok: false, error: notFound(`There is no tool ${name}`), at: tick() };
      try {
        return { ok: true, value: await known(args as never, hold, frame), at: tick() };
      } catch (error) {
        if (error instanceof ToolFailure) return { ok: false, error: error.told, at: tick() };
        throw error;
      }
    },
    async enterCapability(parent, slug, args) {
      const known = Object.hasOwn(capabilities, slug) ? capabilities[slug] : undefined;
      if (known === undefined) return { ok: false, error: notFound(`There is no ${slug}`), at: tick() };
      const frame = ++frames;
      entered.push({ frame, slug, parent });
      const made = typeof known === 'string' ? program(known, { name: `${slug}.ts` }) : known;
      return { ok: true, frame, program: { ...made, args }, at: tick() };
    },
    leaveCapability: (frame, end) => void left.push({ frame, end }),
    mark: (frame, mark) => void marks.push({ ...mark, frame }),
  };
}

function notFound(message: string): GuestCallError {
  return { name: 'ToolError', code: 'not_found', message, errorType: 'NOT_FOUND' };
}

export type RunCode = (
  code: string | GuestProgram,
  host?: TableHost,
  given?: SandboxOptions,
) => Promise<GuestOutcome>;

export function returned(outcome: GuestOutcome): unknown {
  if (!outcome.ok) throw new Error(`The program failed: ${JSON.stringify(outcome.error)}`);
  return outcome.value;
}

export function failureOf(outcome: GuestOutcome): GuestFailure {
  if (outcome.ok) throw new Error(`The program returned ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}
