import type { IntentForms } from '../../learning/ranker/candidates.ts';
import { RowMatrix, TopK } from '../../numeric/top-k.ts';

const DEFAULTS = {
  /** Past runs that are asked by intent alone. */
  nearest: 12,
};

/** One after the other, by place among the candidates. */
export type PlacePair = readonly [from: number, to: number];

/** A run as plans are learned from it. */
export interface PlannedRun extends IntentForms {
  /** Places of what it used, without repeats, in order of first use. */
  readonly uses: readonly number[];
  /** What waited for what; empty where all could have run at once. */
  readonly edges: readonly PlacePair[];
  /** Runs of one key are the same work: none speaks for another while learning. */
  readonly key: string;
  /** By which it is told from others. */
  readonly runId?: string;
  /** Its words are quoted to nobody. */
  readonly isPrivate?: boolean;
}

/** Counts of pairs of places, as far as any were seen. */
export class PairCounts {
  readonly #size: number;
  readonly #counts = new Map<number, number>();

  constructor(size: number) {
    this.#size = size;
  }

  add(from: number, to: number, count = 1): void {
    const pair = from * this.#size + to;
    this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + count);
  }

  of(from: number, to: number): number {
    return this.#counts.get(from * this.#size + to) ?? 0;
  }
}

/** What some runs say of candidates and pairs of them. */
export class PlanCounts {
  /** Runs in which each was used. */
  readonly used: Float64Array;
  /** Runs with an order in which each was used; how often first or last in it, and the sum of its places in [0, 1]. */
  readonly ordered: Float64Array;
  readonly sources: Float64Array;
  readonly sinks: Float64Array;
  readonly positions: Float64Array;
  readonly edgesOut: Float64Array;
  readonly edgesIn: Float64Array;
  /** Runs that used both, in either order. */
  readonly both: PairCounts;
  /** The same, of runs that have an order. */
  readonly orderedBoth: PairCounts;
  readonly edges: PairCounts;
  readonly before: PairCounts;
  runs = 0;
  orderedRuns = 0;

  constructor(size: number, runs: Iterable<PlannedRun> = []) {
    const zeros = () => new Float64Array(size);
    this.used = zeros();
    this.ordered = zeros();
    this.sources = zeros();
    this.sinks = zeros();
    this.positions = zeros();
    this.edgesOut = zeros();
    this.edgesIn = zeros();
    this.both = new PairCounts(size);
    this.orderedBoth = new PairCounts(size);
    this.edges = new PairCounts(size);
    this.before = new PairCounts(size);
    for (const run of runs) this.#add(run);
  }

  #add({ uses, edges }: PlannedRun): void {
    this.runs++;
    for (const [i, a] of uses.entries()) {
      this.used[a]!++;
      for (const b of uses.slice(i + 1)) {
        this.both.add(a, b);
        this.both.add(b, a);
      }
    }
    if (edges.length === 0) return;
    this.orderedRuns++;
    const starts = new Set(uses);
    const ends = new Set(uses);
    for (const [from, to] of edges) {
      this.edges.add(from, to);
      this.edgesOut[from]!++;
      this.edgesIn[to]!++;
      starts.delete(to);
      ends.delete(from);
    }
    for (const a of starts) this.sources[a]!++;
    for (const a of ends) this.sinks[a]!++;
    for (const [i, a] of uses.entries()) {
      this.ordered[a]!++;
      this.positions[a]! += uses.length > 1 ? i / (uses.length - 1) : 0.5;
      for (const b of uses.slice(i + 1)) {
        this.orderedBoth.add(a, b);
        this.orderedBoth.add(b, a);
        this.before.add(a, b);
      }
    }
  }
}

/** Past runs as plans are learned from them: their counts, and their intents to be near to. */
export class PlanHistory {
  readonly runs: readonly PlannedRun[];
  readonly all: PlanCounts;
  /** Places of runs, by candidate. */
  readonly runsOf: readonly (readonly number[])[];
  readonly #size: number;
  readonly #intents: RowMatrix;
  readonly #byKey: ReadonlyMap<string, readonly number[]>;
  #last: { readonly intent: Float32Array; readonly cosines: Float32Array } | null = null;
  readonly #words: readonly ReadonlySet<string>[];

  constructor(runs: readonly PlannedRun[], size: number, dimension: number) {
    this.runs = runs;
    this.#size = size;
    this.all = new PlanCounts(size, runs);
    this.#intents = new RowMatrix(dimension);
    const runsOf = Array.from({ length: size }, (): number[] => []);
    for (const [i, { intent, uses }] of runs.entries()) {
      this.#intents.push(intent);
      for (const place of uses) runsOf[place]!.push(i);
    }
    this.runsOf = runsOf;
    this.#words = runs.map(({ words }) => wordSetOf(words));
    this.#byKey = Map.groupBy(runs.keys(), (i) => runs[i]!.key);
  }

  /** Of all past intents with this one. Drafting a plan and giving reasons for it ask for the same. */
  cosines(intent: Float32Array): Float32Array {
    if (this.#last?.intent !== intent) this.#last = { intent, cosines: this.#intents.dots(intent) };
    return this.#last.cosines;
  }

  /** Of the words of all past intents with these: what both have, by the geometric mean of their numbers. */
  overlaps(words: readonly string[]): Float32Array {
    const asked = new Set(words);
    return Float32Array.from(this.#words, (known) => {
      let both = 0;
      for (const word of asked) if (known.has(word)) both++;
      return both === 0 ? 0 : both / Math.sqrt(asked.size * known.size);
    });
  }

  /** The history as it is without the runs of one key. */
  without(key: string | null): HistoryView {
    return this.hiding(new Set(key === null ? [] : (this.#byKey.get(key) ?? [])));
  }

  /** The history as it is without these runs. */
  hiding(hidden: ReadonlySet<number>): HistoryView {
    const runs = [...hidden].map((i) => this.runs[i]!);
    return new HistoryView(this, new PlanCounts(this.#size, runs), hidden);
  }
}

/** A run stays when the history is made again for the next one. */
const wordSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function wordSetOf(words: readonly string[]): ReadonlySet<string> {
  const known = wordSets.get(words) ?? new Set(words);
  wordSets.set(words, known);
  return known;
}

/** The history without some of its runs; what it says of pairs. */
export class HistoryView {
  readonly history: PlanHistory;
  readonly #hidden: PlanCounts;
  readonly #hiddenRuns: ReadonlySet<number>;

  constructor(history: PlanHistory, hidden: PlanCounts, hiddenRuns: ReadonlySet<number>) {
    this.history = history;
    this.#hidden = hidden;
    this.#hiddenRuns = hiddenRuns;
  }

  isHidden(run: number): boolean {
    return this.#hiddenRuns.has(run);
  }

  get runs(): number {
    return this.history.all.runs - this.#hidden.runs;
  }

  get orderedRuns(): number {
    return this.history.all.orderedRuns - this.#hidden.orderedRuns;
  }

  sum(of: 'used' | 'ordered' | 'sources' | 'sinks' | 'positions' | 'edgesOut' | 'edgesIn', place: number) {
    return this.history.all[of][place]! - this.#hidden[of][place]!;
  }

  pair(of: 'both' | 'orderedBoth' | 'edges' | 'before', from: number, to: number): number {
    const all = this.history.all[of].of(from, to);
    return all === 0 ? 0 : all - this.#hidden[of].of(from, to);
  }
}

/** Places of runs that may be seen, nearest first; of equals the newest, which may have mended an earlier one. */
export function nearestRuns(cosines: ArrayLike<number>, view: HistoryView) {
  const nearest = new TopK(DEFAULTS.nearest);
  for (let i = 0; i < view.history.runs.length; i++) {
    if (!view.isHidden(i)) nearest.offer(i, cosines[i]!, -i);
  }
  return nearest.sorted();
}
