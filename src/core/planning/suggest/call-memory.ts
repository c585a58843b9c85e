import { words } from '../../retrieval/words.ts';
import type { Ownership } from '../../vocabulary/principal.ts';
import { type EarlierValue, type PastCall, valuesOf } from './earlier-values.ts';

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
};

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
