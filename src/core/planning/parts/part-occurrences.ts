import { type RememberedCall, valuesOf } from '../suggest/call-memory.ts';

const DEFAULTS = {
  /** Steps of a part. */
  least: 2,
  most: 5,
  /** Parts that are read off at one call: more would say the same again. */
  perCall: 64,
};

/** A call among those of its session, with where its arguments may come from. */
export interface SessionCall {
  readonly call: RememberedCall;
  /** Its place in the session. */
  readonly place: number;
  /** The job it belongs to: calls in a row for the same intent. */
  readonly job: number;
  /** By value, the way to it in the result. */
  readonly gives: ReadonlyMap<string, string>;
  /** By argument: the earlier calls that had its value, the latest first. */
  readonly sources: ReadonlyMap<string, readonly Source[]>;
  /** Places of the calls that gave it a value which nobody said. */
  readonly takesFrom: readonly number[];
}

interface Source {
  readonly place: number;
  /** The tool that had the value. */
  readonly tool: string;
  /** The way to it in the result; of an argument its name. */
  readonly path: string;
  readonly isArgument: boolean;
  /** The intent says the value too, so nothing had to give it. */
  readonly isSaid: boolean;
}

/** Calls of a session that belong together, oldest first. */
export interface Occurrence {
  readonly steps: readonly SessionCall[];
  /** By step and argument: `#0 items[0].id` from a result, `=0 symbol` as an argument, `<tool path` from before. */
  readonly origins: readonly ReadonlyMap<string, readonly string[]>[];
}

/** By step: what it was given, and the names of what it was given besides. */
export function givenIn(steps: readonly SessionCall[]) {
  return {
    arguments: steps.map(({ call }) => call.arguments),
    hidden: steps.map(({ call }) => call.hidden ?? []),
  };
}

/** A call behind those that its session had before it. */
export function readCall(
  call: RememberedCall,
  before: readonly SessionCall[],
  intent: string,
  job: number,
): SessionCall {
  const gives = new Map<string, string>();
  for (const { value, path } of valuesOf(call.tool, false, call.result)) {
    const key = JSON.stringify(value);
    if (!gives.has(key)) gives.set(key, path);
  }
  const sources = new Map<string, Source[]>();
  for (const [name, value] of Object.entries(call.arguments)) {
    const [told] = valuesOf(call.tool, true, [value]);
    if (told?.path !== '[0]') continue;
    const key = JSON.stringify(value);
    const isSaid = intent.includes(String(value));
    const found: Source[] = [];
    for (const earlier of before.toReversed()) {
      const { place } = earlier;
      const { tool } = earlier.call;
      const path = earlier.gives.get(key);
      if (path !== undefined) found.push({ place, tool, path, isArgument: false, isSaid });
      for (const [other, given] of Object.entries(earlier.call.arguments))
        if (given === value) found.push({ place, tool, path: other, isArgument: true, isSaid });
    }
    if (found.length > 0) sources.set(name, found);
  }
  const takesFrom = [...sources.values()].flatMap(flowing);
  return { call, place: (before.at(-1)?.place ?? -1) + 1, job, gives, sources, takesFrom };
}

/**
 * The steps of the parts that end with the newest call: two to five calls, joined by values or by following one another,
 * closed under their inputs. The order in which they come is always the same.
 */
export function partsEnding(calls: readonly SessionCall[]): (readonly SessionCall[])[] {
  const last = calls.at(-1);
  if (!last) return [];
  const at = new Map(calls.map((call) => [call.place, call]));
  const near = new Map<number, readonly number[]>();
  const nearTo = (place: number): readonly number[] => {
    const known = near.get(place) ?? neighbours(at.get(place)!, calls);
    near.set(place, known);
    return known;
  };
  const seen = new Set<string>();
  const found: (readonly SessionCall[])[] = [];
  let open: (readonly number[])[] = [[last.place]];
  for (let size = 1; size < DEFAULTS.most && open.length > 0 && seen.size < DEFAULTS.perCall; size++) {
    const larger: (readonly number[])[] = [];
    for (const part of open) {
      if (seen.size >= DEFAULTS.perCall) break;
      const others = new Set<number>();
      for (const place of part) for (const other of nearTo(place)) others.add(other);
      for (const place of [...others].sort((a, b) => b - a)) {
        if (part.includes(place) || seen.size >= DEFAULTS.perCall) continue;
        const next = withPlace(part, place);
        const key = next.join(' ');
        if (seen.has(key)) continue;
        seen.add(key);
        larger.push(next);
      }
    }
    for (const places of larger) {
      const steps = places.map((place) => at.get(place)!);
      if (steps.length >= DEFAULTS.least && isClosed(steps)) found.push(steps);
    }
    open = larger;
  }
  return found;
}

/** In order. */
function withPlace(part: readonly number[], place: number): readonly number[] {
  const after = part.findIndex((other) => other > place);
  return part.toSpliced(after < 0 ? part.length : after, 0, place);
}

/**
 * Places of the calls it follows or is followed by in its job, took a value from, or gave one to. What comes first in the
 * next job of a session says nothing about the last call of this one, unless it takes a value from it.
 */
function neighbours({ place, job, takesFrom }: SessionCall, calls: readonly SessionCall[]): number[] {
  const found: number[] = [];
  for (const other of calls) {
    const isBeside = other.job === job && Math.abs(other.place - place) === 1;
    if (isBeside || takesFrom.includes(other.place) || other.takesFrom.includes(place))
      found.push(other.place);
  }
  return found;
}

/** Where a value came from that nobody said. */
function flowing(sources: readonly Source[]): number[] {
  const from = sources.find(({ isArgument, isSaid }) => !isArgument && !isSaid);
  return from ? [from.place] : [];
}

/**
 * Whether it could have run in one go: what a step took was there when the part began, or a step before it had it. A value
 * that a call outside gave meanwhile was not.
 */
function isClosed(steps: readonly SessionCall[]): boolean {
  const first = steps[0]!.place;
  const inside = new Set(steps.map(({ place }) => place));
  return steps.every(({ sources }) =>
    sources
      .values()
      .every(
        (all) =>
          all.some(({ place, isSaid }) => isSaid || inside.has(place) || place < first) || all.length === 0,
      ),
  );
}

/** The part, with where its arguments came from. */
export function occurrenceOf(steps: readonly SessionCall[]): Occurrence {
  return { steps, origins: originsIn(steps) };
}

function originsIn(steps: readonly SessionCall[]): ReadonlyMap<string, readonly string[]>[] {
  const stepAt = new Map(steps.map(({ place }, i) => [place, i]));
  return steps.map(
    ({ sources }) =>
      new Map(
        [...sources].map(([name, all]) => {
          const inside = all.flatMap(({ place, path, isArgument }) => {
            const step = stepAt.get(place);
            return step === undefined ? [] : [`${isArgument ? '=' : '#'}${step} ${path}`];
          });
          const before = all.find(({ place, isArgument }) => !isArgument && place < steps[0]!.place);
          return [name, inside.length > 0 || !before ? inside : [`<${before.tool} ${before.path}`]];
        }),
      ),
  );
}
