import type { Ownership } from '../../vocabulary/principal.ts';
import type { RememberedRun } from '../suggest/call-memory.ts';
import {
  givenIn,
  type Occurrence,
  occurrenceOf,
  partsEnding,
  readCall,
  type SessionCall,
} from './part-occurrences.ts';

const DEFAULTS = {
  /** Calls of a session that a part may reach back over. */
  window: 12,
  /** Sessions that are remembered, and milliseconds after which a session begins again. */
  sessions: 500,
  sessionMs: 60 * 60_000,
  /** Calls of one run that are looked at. */
  calls: 50,
  /** Kinds of part that are counted, and occurrences after which the rare ones are let go (lossy counting). */
  parts: 8_192,
  bucket: 32_768,
  /** Tools that are counted. */
  tools: 20_000,
  /** Occurrences of a part that are remembered, and characters of one at the most. */
  examples: 4,
  characters: 2_000,
  intents: 5,
  /** Jobs that a part must be seen in. */
  support: 2,
  /** Places that arguments of a part came from, at the most. */
  votes: 64,
  /** Share of the occurrences from which an argument is taken from where it came from. */
  usual: 0.75,
  /** Bits that a value costs which has to be given, and those that tell where it comes from instead. */
  valueBits: 12,
  wiringBits: 6,
};

/** A recurring part of jobs, with the newest of its occurrences. */
export interface Part extends Ownership {
  readonly key: string;
  /** In order. */
  readonly tools: readonly string[];
  /** Jobs it was seen in that have no call in common: never more than there were. */
  readonly support: number;
  /** Bits that telling the jobs by it saves, its own description paid for. */
  readonly gain: number;
  /** By step: where arguments come from, as `Occurrence` writes it. */
  readonly wiring: readonly ReadonlyMap<string, string>[];
  /** By step, the arguments it was given, newest occurrence first; the result of the last step. */
  readonly examples: readonly PartExample[];
  /** What it was for, where one intent asked for all of it. */
  readonly intents: readonly string[];
}

export interface PartExample extends Pick<Occurrence, 'origins'> {
  readonly arguments: readonly Readonly<Record<string, unknown>>[];
  /** By step: names of arguments it was given too, whose values were not recorded. */
  readonly hidden: readonly (readonly string[])[];
  readonly result: unknown;
}

interface Entry extends Ownership {
  readonly key: string;
  readonly tools: readonly string[];
  count: number;
  /** Occurrences that may have been let go before this one came, in buckets. */
  readonly missed: number;
  /** The greatest count of a part with one step more. */
  within: number;
  examples: readonly PartExample[];
  intents: readonly string[];
  /** By step and argument: occurrences that gave it, and by origin those that had it from there. */
  readonly votes: Map<string, number>;
}

interface Session {
  readonly at: number;
  readonly intent: string;
  readonly job: number;
  readonly calls: readonly SessionCall[];
  /** By part, the job of its latest occurrence that was counted. */
  readonly counted: ReadonlyMap<string, number>;
}

/** What a run changed. */
export interface MinedRun {
  /** Parts that are worth a name now. */
  readonly found: readonly Part[];
  /** Parts that a larger part says as well, with the jobs they were seen in. */
  readonly covered: readonly Pick<Part, 'key' | 'support'>[];
}

/**
 * Finds the parts that recur, run by run, with bounded memory and the same work for each call: lossy counting (Manku and
 * Motwani, "Approximate frequency counts over data streams", 2002) of small connected parts of sessions. Counts are never
 * too high, and too low by at most one for each `bucket` occurrences, as long as no more than `parts` kinds are common.
 */
export class PartMiner {
  readonly #entries = new Map<string, Entry>();
  readonly #sessions = new Map<string, Session>();
  readonly #tools = new Map<string, number>();
  #calls = 0;
  #occurrences = 0;

  /** Kinds of part that are counted now. */
  get size(): number {
    return this.#entries.size;
  }

  add(run: RememberedRun): MinedRun {
    const touched = new Set<string>();
    const covered = new Set<Entry>();
    // What is private to nobody has nobody to tell it to.
    if (run.visibility === 'private' && run.owner === null) return { found: [], covered: [] };
    const session = this.#sessionOf(run);
    let { calls } = session;
    const counted = new Map(session.counted);
    for (const call of run.calls.slice(0, DEFAULTS.calls)) {
      this.#countTool(call.tool);
      calls = [...calls, readCall(call, calls, run.intent, session.job)].slice(-DEFAULTS.window);
      for (const steps of partsEnding(calls)) {
        const entry = this.#count(steps, run, counted);
        if (!entry) continue;
        touched.add(entry.key);
        for (const smaller of this.#smaller(entry)) {
          smaller.within = Math.max(smaller.within, entry.count);
          if (smaller.within >= smaller.count) covered.add(smaller);
        }
      }
    }
    const oldest = calls[0]?.job ?? 0;
    for (const [key, job] of counted) if (job < oldest) counted.delete(key);
    this.#keepSession(run, { ...session, at: run.at, calls, counted });
    const found = [...touched].flatMap((key) => this.part(key) ?? []);
    return { found, covered: [...covered].map(({ key, count: support }) => ({ key, support })) };
  }

  /** Null while it is not worth a name: seen too rarely, by chance, or only as part of a larger one. */
  part(key: string): Part | null {
    const entry = this.#entries.get(key);
    if (!entry || entry.count < DEFAULTS.support || entry.within >= entry.count) return null;
    if (new Set(entry.tools).size < 2) return null;
    const wiring = wiringOf(entry);
    const gain = this.#gain(entry, wiring);
    if (gain <= 0) return null;
    const { tools, count: support, intents, owner, visibility, examples } = entry;
    return { key, tools, support, gain, wiring, examples, intents, owner, visibility };
  }

  /** All that are worth a name, those that save most first. */
  parts(): Part[] {
    const all = [...this.#entries.keys()].flatMap((key) => this.part(key) ?? []);
    return all.sort((a, b) => b.gain - a.gain || (a.key < b.key ? -1 : 1));
  }

  #sessionOf(run: RememberedRun): Session {
    const { at, intent } = run;
    const known = this.#sessions.get(sessionKey(run));
    if (!known || Math.abs(at - known.at) > DEFAULTS.sessionMs)
      return { at, intent, job: (known?.job ?? -1) + 1, calls: [], counted: new Map() };
    const isSame = known.intent.trim().toLowerCase() === intent.trim().toLowerCase();
    return isSame ? known : { ...known, intent, job: known.job + 1 };
  }

  #keepSession(run: RememberedRun, session: Session): void {
    const id = sessionKey(run);
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    if (this.#sessions.size > DEFAULTS.sessions) this.#sessions.delete(this.#sessions.keys().next().value!);
  }

  #countTool(tool: string): void {
    this.#calls++;
    if (this.#tools.has(tool) || this.#tools.size < DEFAULTS.tools)
      this.#tools.set(tool, (this.#tools.get(tool) ?? 0) + 1);
  }

  /** Null for one that shares a job with an occurrence that was counted. */
  #count(steps: readonly SessionCall[], run: RememberedRun, counted: Map<string, number>): Entry | null {
    const tools = steps.map(({ call }) => call.tool);
    const key = keyOf(tools, run);
    const [first, last] = [steps[0]!.job, steps.at(-1)!.job];
    if ((counted.get(key) ?? -1) >= first) return null;
    counted.set(key, last);
    const occurrence = occurrenceOf(steps);
    const example = exampleOf(occurrence);
    const bucket = Math.floor(this.#occurrences++ / DEFAULTS.bucket);
    if (this.#occurrences % DEFAULTS.bucket === 0) this.#letGo(bucket + 1);
    const entry = this.#entries.get(key) ?? newEntry(key, tools, bucket, run);
    entry.count++;
    vote(entry, occurrence);
    if (example) entry.examples = [example, ...entry.examples].slice(0, DEFAULTS.examples);
    if (first === last && run.intent !== '' && !entry.intents.includes(run.intent))
      entry.intents = [...entry.intents, run.intent].slice(-DEFAULTS.intents);
    this.#entries.set(key, entry);
    if (this.#entries.size > DEFAULTS.parts) this.#makeRoom();
    return entry;
  }

  #letGo(bucket: number): void {
    for (const [key, { count, missed }] of this.#entries)
      if (count + missed <= bucket) this.#entries.delete(key);
  }

  /** Half of those that are hardly seen, at once, so that each costs little. */
  #makeRoom(): void {
    const ranked = [...this.#entries.values()].sort(
      (a, b) => a.count + a.missed - (b.count + b.missed) || (a.key < b.key ? -1 : 1),
    );
    for (const { key } of ranked.slice(0, DEFAULTS.parts >> 2)) this.#entries.delete(key);
  }

  *#smaller({ tools, ...ownership }: Entry): Iterable<Entry> {
    if (tools.length === 2) return;
    for (let i = 0; i < tools.length; i++) {
      const smaller = this.#entries.get(keyOf(tools.toSpliced(i, 1), ownership));
      if (smaller) yield smaller;
    }
  }

  /**
   * Minimum description length: each time it occurs, one name takes the place of its tools, each of which costs the more
   * the rarer it is, and of the values that it takes from its own steps. Tools that follow one another as often as chance
   * lets them save nothing. The part itself has to be told once.
   */
  #gain({ tools, count }: Entry, wiring: readonly ReadonlyMap<string, string>[]): number {
    const bits = (times: number) => Math.log2(this.#calls / Math.max(1, times));
    const apart = tools.reduce((sum, tool) => sum + bits(this.#tools.get(tool) ?? 1), 0);
    const wired = wiring.reduce((sum, { size }) => sum + size, 0);
    const saved = apart - bits(count) + wired * DEFAULTS.valueBits;
    const own = tools.length * Math.log2(1 + this.#tools.size) + wired * DEFAULTS.wiringBits;
    return count * saved - own;
  }
}

/** Private runs of one user are not mixed with shared runs. */
function sessionKey({ session, owner, visibility }: RememberedRun): string {
  return JSON.stringify([session, visibility, owner]);
}

function keyOf(tools: readonly string[], { owner, visibility }: Ownership): string {
  return [visibility === 'private' ? `${owner} ` : '', ...tools].join('\n');
}

function newEntry(
  key: string,
  tools: readonly string[],
  missed: number,
  { owner, visibility }: Ownership,
): Entry {
  return {
    key,
    tools,
    missed,
    owner,
    visibility,
    count: 0,
    within: 0,
    examples: [],
    intents: [],
    votes: new Map(),
  };
}

/** Null where it is too long to be remembered. */
function exampleOf({ steps, origins }: Occurrence): PartExample | null {
  const given = givenIn(steps);
  if (JSON.stringify(given).length > DEFAULTS.characters) return null;
  const result = steps.at(-1)!.call.result;
  const isShort = (JSON.stringify(result)?.length ?? 0) <= DEFAULTS.characters;
  return { ...given, result: isShort ? result : undefined, origins };
}

function vote({ votes }: Entry, { steps, origins }: Occurrence): void {
  const count = (key: string) => {
    if (votes.has(key) || votes.size < DEFAULTS.votes) votes.set(key, (votes.get(key) ?? 0) + 1);
  };
  for (const [step, { call }] of steps.entries()) {
    for (const name of Object.keys(call.arguments)) {
      count(JSON.stringify([step, name]));
      for (const origin of new Set(origins[step]!.get(name)))
        if (!origin.startsWith('<')) count(JSON.stringify([step, name, origin]));
    }
  }
}

/**
 * Where most of the occurrences have an argument from the same place, it comes from there. A result that only repeats what
 * its call was given is not where it comes from.
 */
function wiringOf({ tools, votes }: Entry): ReadonlyMap<string, string>[] {
  const wired = tools.map(() => new Map<string, string>());
  const read = [...votes].map(([key, count]) => ({ key, count, told: JSON.parse(key) as unknown[] }));
  const isResult = (told: readonly unknown[]) => Number(String(told[2]).startsWith('#'));
  read.sort((a, b) => isResult(a.told) - isResult(b.told) || b.count - a.count || (a.key < b.key ? -1 : 1));
  for (const { told, count } of read) {
    const [step, name, origin] = told as [number, string, string?];
    const given = votes.get(JSON.stringify([step, name])) ?? 0;
    if (origin === undefined || given < 2 || count < DEFAULTS.usual * given) continue;
    if (!wired[step]!.has(name)) wired[step]!.set(name, origin);
  }
  return wired;
}
