import { resolveReferences } from '../../src/core/planning/plan/references.ts';
import type { Plan } from '../../src/core/vocabulary/plan.ts';
import type { Capability } from '../../src/engine/ports.ts';
import { canonical, type GoldCall } from './bfcl-pack.ts';

/** A call that a plan would make. */
export interface PlannedCall {
  readonly tool: string;
  /** The place of the right call that it is; null for one that is wrong, or that something is missing from. */
  readonly gold: number | null;
  /** By what it is made: a routine, with the place of its task in the plan, or null for a plain tool. */
  readonly routine: number | null;
}

/** Known only to the person who is asked. */
const OPEN = '\u0000open';

/**
 * The calls of a plan, its routines run with stand-ins for the servers: a right call gets the result that the right run
 * had, any other gets nothing, and so does what depends on it.
 */
export async function plannedCalls(
  plan: Plan,
  capabilities: ReadonlyMap<string, Capability>,
  gold: readonly GoldCall[],
  results: readonly unknown[],
): Promise<PlannedCall[]> {
  const left = new Map(gold.map((call, i) => [i, callKey(call)]));
  const made: PlannedCall[] = [];
  const call = (tool: string, args: unknown, routine: number | null): unknown => {
    const key = callKey({ tool, arguments: (args ?? {}) as GoldCall['arguments'] });
    const [place] = [...left].find(([, wanted]) => wanted === key) ?? [null];
    if (place !== null) left.delete(place);
    made.push({ tool, gold: place, routine });
    return place === null ? OPEN : results[place];
  };
  const given: Record<string, unknown> = Object.fromEntries(plan.inputs.map(({ name }) => [name, OPEN]));
  for (const [place, { id, tool, capability, arguments: args, forEach }] of plan.tasks.entries()) {
    const filled = forEach === undefined ? resolved(args, given) : OPEN;
    if (tool !== undefined) given[id] = call(tool, filled, null);
    else if (capability !== undefined)
      given[id] = await runRoutine(capability, filled, capabilities, (name, own) => call(name, own, place));
    else given[id] = OPEN;
  }
  return made;
}

function callKey({ tool, arguments: args }: GoldCall): string {
  return `${tool} ${canonical(args)}`;
}

function resolved(args: unknown, given: Readonly<Record<string, unknown>>): unknown {
  try {
    return resolveReferences(args, given);
  } catch {
    return OPEN;
  }
}

type MakeCall = (tool: string, args: unknown) => unknown;

async function runRoutine(
  slug: string,
  args: unknown,
  capabilities: ReadonlyMap<string, Capability>,
  call: MakeCall,
): Promise<unknown> {
  const routine = capabilities.get(slug);
  if (!routine) return OPEN;
  const { properties = {} } = routine.parametersSchema as {
    properties?: Record<string, { default?: unknown }>;
  };
  const defaults = Object.entries(properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  );
  const own = { ...Object.fromEntries(defaults), ...(typeof args === 'object' ? args : {}) };
  const mcp = members((server) =>
    members((tool) => async (given: unknown) => call(`${server}:${tool}`, given)),
  );
  const inner = members((name) => (given: unknown) => runRoutine(name, given, capabilities, call));
  const run = new Function('mcp', 'capabilities', 'args', `return (async () => {${routine.code}\n})();`);
  try {
    return await run(mcp, inner, own);
  } catch {
    // Something was taken from a result that is not there.
    return OPEN;
  }
}

function members(of: (name: string) => unknown): unknown {
  return new Proxy({}, { get: (_, name) => of(String(name)) });
}
