import { words } from '../../retrieval/words.ts';
import type { Ownership } from '../../vocabulary/principal.ts';

const DEFAULTS = {
  /** Runs remembered, the newest. */
  runs: 2_000,
  /** Calls of one run, and values that are known before one. */
  calls: 50,
  earlier: 300,
  /** Sessions whose values are remembered, and for how long after the last call, in milliseconds. */
  sessions: 500,
  sessionMs: 60 * 60_000,
  /** Characters of an intent. */
  intent: 4_000,
  /** Values of one result, and how deep they lie at the most. */
  values: 200,
  depth: 6,
  /** Characters of a text that is remembered. */
  characters: 1_000,
  /** Places a value may come from that are told. */
  origins: 4,
};

/** A value that was there before a call: what an earlier call of the session gave or was given. */
export interface EarlierValue {
  readonly value: unknown;
  /** The tool that had it. */
  readonly tool: string;
  /** It was given to the tool, not by it. */
  readonly isArgument: boolean;
  /** The way to it: `items[0].id`; empty for the whole. */
  readonly path: string;
}

/** A past call with what was known when it was made. */
export interface PastCall {
  readonly tool: string;
  readonly intent: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of its session before the run, oldest first. */
  readonly earlier: readonly EarlierValue[];
  /** Of its run, before it. */
  readonly within: readonly EarlierValue[];
  /** Its place among the calls of the tool in its run. */
  readonly nth: number;
  /** How much alike its intent and the new one are, in [0, 1]. */
  readonly likeness: number;
}

/** All values of a result, or of arguments, with the way to them. */
export function valuesOf(tool: string, isArgument: boolean, root: unknown): EarlierValue[] {
  const found: EarlierValue[] = [];
  const walk = (value: unknown, path: string, depth: number) => {
    if (found.length >= DEFAULTS.values || depth > DEFAULTS.depth) return;
    if (Array.isArray(value)) {
      for (const [i, item] of value.slice(0, DEFAULTS.values).entries())
        walk(item, `${path}[${i}]`, depth + 1);
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value))
        if (PLAIN.test(key)) walk(item, path === '' ? key : `${path}.${key}`, depth + 1);
    } else if (isTelling(value)) found.push({ value, tool, isArgument, path });
  };
  walk(root, '', 0);
  return found;
}

const PLAIN = /^[A-Za-z_$][\w$-]*$/;

/** What everybody says (true, 0, an empty text) comes from nowhere; what is too long is not looked for. */
function isTelling(value: unknown): boolean {
  if (typeof value === 'string')
    return value !== '' && value.length <= DEFAULTS.characters && !value.includes('${');
  return typeof value === 'number' && value !== 0;
}

/** Where a value was before, the latest first; each also by its last name alone, which other tools may share. */
export function originsOf(value: unknown, earlier: readonly EarlierValue[]): string[] {
  const found = new Set<string>();
  for (let i = earlier.length - 1; i >= 0 && found.size < DEFAULTS.origins; i--) {
    const known = earlier[i]!;
    if (known.value !== value) continue;
    found.add(originOf(known));
    found.add(nameOf(known));
  }
  return [...found];
}

/** The latest value from there; undefined where there is none. */
export function valueFrom(origin: string, earlier: readonly EarlierValue[]): unknown {
  const isName = origin.startsWith('.');
  return earlier.findLast((known) => (isName ? nameOf(known) : originOf(known)) === origin)?.value;
}

/** The same in every run: places in lists are not told. */
function originOf({ tool, isArgument, path }: EarlierValue): string {
  return `${tool}${isArgument ? '()' : ''} ${path.replace(/\[\d+\]/g, '[]')}`;
}

/** `.id` of `items[0].id`. */
function nameOf({ path }: EarlierValue): string {
  const plain = path.replace(/\[\d+\]/g, '');
  return `.${plain.slice(plain.lastIndexOf('.') + 1)}`;
}

export interface RememberedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Names of arguments it was given too, whose values were not recorded. */
  readonly hidden?: readonly string[];
  /** As programs see it; undefined where it failed. */
  readonly result?: unknown;
}

/** A run with what its calls were given and gave. */
export interface RememberedRun extends Ownership {
  readonly intent: string;
  /** Runs of one session follow one another. */
  readonly session: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly calls: readonly RememberedCall[];
}

interface KnownRun extends RememberedRun {
  readonly words: ReadonlySet<string>;
  readonly earlier: readonly EarlierValue[];
}

interface Session {
  readonly at: number;
  readonly values: readonly EarlierValue[];
}

/** What calls were given, for what, and what was known then: arguments by analogy are made of it. */
export class CallMemory {
  #runs: KnownRun[] = [];
  readonly #byTool = new Map<string, Set<KnownRun>>();
  /** By word: runs whose intents have it. */
  readonly #counts = new Map<string, number>();
  readonly #sessions = new Map<string, Session>();

  add(run: RememberedRun): void {
    const intent = run.intent.slice(0, DEFAULTS.intent);
    const calls = run.calls.slice(0, DEFAULTS.calls);
    const earlier = this.earlier(run.session, run.at);
    const known: KnownRun = { ...run, intent, calls, words: new Set(words(intent)), earlier };
    const values = [...earlier, ...calls.flatMap(valuesOfCall)].slice(-DEFAULTS.earlier);
    this.#sessions.delete(run.session);
    this.#sessions.set(run.session, { at: run.at, values });
    if (this.#sessions.size > DEFAULTS.sessions) this.#sessions.delete(this.#sessions.keys().next().value!);
    if (intent.trim() === '' || calls.length === 0) return;
    this.#runs.push(known);
    this.#count(known, 1);
    for (const { tool } of calls) {
      const runs = this.#byTool.get(tool) ?? new Set();
      this.#byTool.set(tool, runs.add(known));
    }
    if (this.#runs.length > DEFAULTS.runs) this.#forget(this.#runs.shift()!);
  }

  /** What a session's calls gave and were given, oldest first; nothing once it is long over. */
  earlier(session: string, now: number): readonly EarlierValue[] {
    const known = this.#sessions.get(session);
    return known && Math.abs(now - known.at) <= DEFAULTS.sessionMs ? known.values : [];
  }

  /** The calls of a tool in runs that may be seen. */
  callsOf(tool: string, intent: string, isSeen: (run: Ownership) => boolean): PastCall[] {
    const asked = new Set(words(intent.slice(0, DEFAULTS.intent)));
    return [...(this.#byTool.get(tool) ?? [])].filter(isSeen).flatMap((run) => {
      const likeness = this.#likeness(asked, run.words);
      let within: EarlierValue[] = [];
      let nth = 0;
      return run.calls.flatMap((call): PastCall[] => {
        const before = within;
        within = [...within, ...valuesOfCall(call)];
        if (call.tool !== tool) return [];
        return [
          {
            tool,
            intent: run.intent,
            arguments: call.arguments,
            earlier: run.earlier,
            within: before,
            nth: nth++,
            likeness,
          },
        ];
      });
    });
  }

  /** Share of the words of both that both have (Jaccard), those of few runs counting more. */
  #likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
    const weight = (word: string) => Math.log(1 + this.#runs.length / (1 + (this.#counts.get(word) ?? 0)));
    let [shared, all] = [0, 0];
    for (const word of a.union(b)) {
      const own = weight(word);
      all += own;
      if (a.has(word) && b.has(word)) shared += own;
    }
    return all === 0 ? 0 : shared / all;
  }

  #forget(run: KnownRun): void {
    this.#count(run, -1);
    for (const { tool } of run.calls) this.#byTool.get(tool)?.delete(run);
  }

  #count({ words: own }: KnownRun, by: number): void {
    for (const word of own) this.#counts.set(word, (this.#counts.get(word) ?? 0) + by);
  }
}

function valuesOfCall({ tool, arguments: given, result }: RememberedCall): EarlierValue[] {
  return [...valuesOf(tool, false, result), ...valuesOf(tool, true, given)];
}
