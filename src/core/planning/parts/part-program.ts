import { type ProgramCall, printProgram } from '../../capabilities/print-program.ts';
import type { Part, PartExample } from './part-miner.ts';

/** A smaller routine that a larger one may call. */
export interface InnerRoutine {
  readonly slug: string;
  readonly tools: readonly string[];
  readonly wiring: Part['wiring'];
  /** The parameter that an argument of one of its tools has become; undefined where it is not one. */
  readonly parameterOf: (tool: string, name: string) => string | undefined;
}

export interface PartProgramOptions {
  /** Arguments that a tool cannot do without: those that were not recorded have to be given. */
  readonly required?: (tool: string) => readonly string[];
  readonly inner?: readonly InnerRoutine[];
}

/** What an argument of a step is made of. */
type ArgumentSource =
  | { readonly kind: 'given' }
  | { readonly kind: 'result'; readonly step: number; readonly path: string }
  | { readonly kind: 'shared'; readonly step: number; readonly name: string };

/**
 * The programs that would have made the occurrences of a part, the newest first, all of one shape: what a step took from a
 * result is taken from there, a value that several steps were given is given once, and its last result is its own.
 */
export function partPrograms(part: Part, options: PartProgramOptions = {}): string[] {
  const shapes = Map.groupBy(part.examples.filter(isAsWired), shapeOf);
  const [most] = [...shapes.values()].sort((a, b) => b.length - a.length);
  return (most ?? []).map((example) => printed(part, example, options));

  function isAsWired({ arguments: given, origins }: PartExample): boolean {
    return part.wiring.every((wired, step) =>
      [...wired].every(
        ([name, origin]) => !Object.hasOwn(given[step]!, name) || origins[step]!.get(name)?.includes(origin),
      ),
    );
  }
}

function shapeOf({ arguments: given, hidden }: PartExample): string {
  return JSON.stringify(given.map((step, i) => [Object.keys(step).sort(), hidden[i]!.toSorted()]));
}

/** Where an argument comes from in the end: what is the same as an argument that was taken is taken too. */
export function sourceOf({ wiring }: Pick<Part, 'wiring'>, step: number, name: string): ArgumentSource {
  const origin = wiring[step]?.get(name);
  if (origin === undefined) return { kind: 'given' };
  const gap = origin.indexOf(' ');
  const [from, path] = [Number(origin.slice(1, gap)), origin.slice(gap + 1)];
  if (origin.startsWith('#')) return { kind: 'result', step: from, path };
  const before = sourceOf({ wiring }, from, path);
  return before.kind === 'given' ? { kind: 'shared', step: from, name: path } : before;
}

function printed(part: Part, example: PartExample, { required, inner = [] }: PartProgramOptions): string {
  const constants = new Map<string, { readonly name: string; readonly value: unknown }>();
  const steps = part.tools.map((tool, step): ProgramCall => {
    const given = example.arguments[step]!;
    const needed = new Set([...(required?.(tool) ?? []), ...example.hidden[step]!]);
    const missing = [...needed].filter((name) => !Object.hasOwn(given, name));
    const takes: { toPath: string; call: number; fromPath: string }[] = [];
    const code: Record<string, string> = Object.fromEntries(missing.map((name) => [name, accessTo(name)]));
    for (const name of Object.keys(given)) {
      const source = sourceOf(part, step, name);
      if (source.kind === 'result') takes.push({ toPath: name, call: source.step, fromPath: source.path });
      if (source.kind === 'shared') code[name] = shared(source.step, source.name);
    }
    const all = { ...given, ...Object.fromEntries(missing.map((name) => [name, null])) };
    return { tool, arguments: all, takes, code };
  });
  // The first step that has a shared value gets it from the same constant.
  const named = steps.map((call, step) => {
    const own = [...constants].filter(([key]) => key.startsWith(`${step} `));
    const first = own.map(([key, { name }]) => [key.slice(key.indexOf(' ') + 1), name]);
    return { ...call, code: { ...call.code, ...Object.fromEntries(first) } };
  });
  const lines = [...constants.values()].map(({ name, value }) => `const ${name} = ${JSON.stringify(value)};`);
  const whole = inner.reduce((calls, routine) => withInner(part, calls, routine), named as Nested[]);
  return [...lines, printProgram(unfolded(whole))].join('\n');

  function shared(step: number, name: string): string {
    const key = `${step} ${name}`;
    const known = constants.get(key);
    if (known) return known.name;
    const own = numbered(givenName(name), new Set(constants.values().map((one) => one.name)));
    constants.set(key, { name: own, value: example.arguments[step]![name] });
    return own;
  }
}

/** `travel_date` -> `givenTravelDate`: never a word of the language. */
function givenName(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return `given${words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')}`;
}

function numbered(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let count = 2;
  while (taken.has(`${name}${count}`)) count++;
  return `${name}${count}`;
}

function accessTo(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `args.${name}` : `args[${JSON.stringify(name)}]`;
}

/** Calls by step: one that stands for several steps is at the last of them, and the others are null. */
type Nested = ProgramCall | null;

/** With a smaller routine in the place of its steps, where they are the same in the larger one. */
function withInner(part: Part, calls: readonly Nested[], routine: InnerRoutine): Nested[] {
  const { tools, slug, wiring, parameterOf } = routine;
  const size = tools.length;
  if (size >= part.tools.length || new Set(tools).size < size) return [...calls];
  const at = part.tools.findIndex((_, i) => tools.every((tool, k) => part.tools[i + k] === tool));
  const steps = at === -1 ? [] : calls.slice(at, at + size);
  if (steps.length < size || steps.includes(null)) return [...calls];
  const last = at + size - 1;
  // What a step takes from another of them in one, it takes from there in the other as well.
  const isSame = tools.every((_, k) => {
    const own = [...part.wiring[at + k]!].filter(([, origin]) => stepIn(origin) >= at);
    return (
      own.length === wiring[k]!.size &&
      own.every(([name, origin]) => wiring[k]!.has(name) && origin === shifted(wiring[k]!.get(name)!, at))
    );
  });
  const isUsedInside = calls.some(
    (call, i) => i > last && call?.takes.some((take) => take.call >= at && take.call < last),
  );
  if (!isSame || isUsedInside) return [...calls];
  const given: Record<string, unknown> = {};
  const takes: ProgramCall['takes'][number][] = [];
  const code: Record<string, string> = {};
  for (const [k, step] of steps.entries()) {
    for (const [name, value] of Object.entries(step!.arguments)) {
      if (wiring[k]!.has(name)) continue;
      const parameter = parameterOf(tools[k]!, name);
      if (parameter === undefined) return [...calls];
      given[parameter] = value;
      const from = step!.takes.find(({ toPath }) => toPath === name);
      if (from) takes.push({ ...from, toPath: parameter });
      else if (step!.code?.[name] !== undefined) code[parameter] = step!.code[name];
    }
  }
  const call = { tool: `capabilities.${slug}`, arguments: given, takes, code };
  return calls.map((known, i) => (i < at || i > last ? known : i === last ? call : null));
}

function shifted(origin: string, by: number): string {
  return `${origin[0]}${stepIn(origin) + by}${origin.slice(origin.indexOf(' '))}`;
}

/** The step that an origin names. */
function stepIn(origin: string): number {
  return Number(origin.slice(1, origin.indexOf(' ')));
}

/** Without the steps that others stand for; references are counted again. */
function unfolded(calls: readonly Nested[]): ProgramCall[] {
  const kept = calls.flatMap((call, i) => (call ? [i] : []));
  return kept.map((i) => {
    const call = calls[i]!;
    const takes = call.takes.map((take) => ({ ...take, call: kept.indexOf(take.call) }));
    return { ...call, takes };
  });
}
