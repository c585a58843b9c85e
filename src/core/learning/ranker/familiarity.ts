import { TopK } from '../../numeric/top-k.ts';
import { momentsOf } from '../../numeric/vectors.ts';
import type { TextScores } from '../../retrieval/text-scores.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { PastRuns } from './past-runs.ts';

const DEFAULTS = {
  /** Past runs whose tools are compared with the text of a query. */
  neighbours: 5,
  /** The newest runs that tell how near a run usually is to the others. */
  runs: 200,
  /** Share of the runs that lie lower: from there up a query is as near as runs usually are. */
  usual: 0.05,
  usualFit: 0.02,
  /** Runs that may lie lower at the least: of a few runs that share is none, and one stray run would decide. */
  strays: 3,
  /** Standard score from which a text stands out. */
  leastFit: 1,
  /** How far below that nothing learned counts any more: cosine, and standard deviations of text scores. */
  nearBand: { narrow: 0.15, diverse: 0.25 },
  fitBand: { narrow: 1, diverse: 2 },
  /** Power of the share that counts: a diverse past has shown how it does for questions of other kinds. */
  power: { narrow: 1, diverse: 0.3 },
  /** Cosine that a past of one kind asks for at the least: it has never seen another question. */
  nearWhenNarrow: 0.65,
  /** Kinds of runs, by what they used, after which a past has half shown what other questions look like. */
  kindsToKnow: 10,
  /** Share of tasks for which the best candidate by text is right, on six public data sets. */
  textRight: 0.67,
  /** Of the way from the cosine with any tool to 1: as near in every store, however alike its runs are. */
  near: 0.6,
};

/** How a query stands to the past. */
export interface Sighting {
  /** Cosine with the nearest past intent; -1 without any. */
  readonly nearest: number;
  /** Cosine from which an intent is near in any store. */
  readonly near: number;
  /** How well the text of what the nearest runs used fits the query: standard score of the best among all candidates. */
  readonly fit: number;
  /** The candidate that fits the text best was never used, nor anything else of its server. */
  readonly isNew: boolean;
  /** By place: 1 where it was used. */
  readonly used: Uint8Array;
  /** By number of server: the share of its tools that were used. */
  readonly usedShares: Float64Array;
  /** The best candidate by text. */
  readonly favourite: number;
}

/**
 * Whether a question is of a kind that was seen before. What is usual is taken from the runs themselves: how near
 * each was to the others, as if it had not been seen (a conformal measure of strangeness: Laxhammar & Falkman,
 * "Conformal prediction for distribution-independent anomaly detection", 2010). A narrow past has near neighbours, and
 * what is farther away than its runs are from each other is foreign to it; in a diverse past far neighbours are usual.
 */
export class Familiarity {
  /** Cosine that most runs reach with the nearest of the others, and how well what near runs used fits them. */
  readonly nearest: number;
  readonly fit: number;
  /** Share of the runs for which the best candidate by text was right. */
  readonly textRight: number;
  /** Of the past: 1 where it knows one kind of run. */
  readonly narrowness: number;

  constructor(nearest: number, fit: number, textRight: number, narrowness = 1) {
    this.nearest = nearest;
    this.fit = fit;
    this.textRight = textRight;
    this.narrowness = narrowness;
  }

  static from(values: ArrayLike<number>): Familiarity {
    return new Familiarity(values[0]!, values[1]!, values[2]!, values[3]!);
  }

  get values(): Float32Array {
    return Float32Array.of(this.nearest, this.fit, this.textRight, this.narrowness);
  }

  /**
   * In [0, 1]: as far as the best candidate by text is right more often than not here. A narrow past cannot tell that of
   * other work, however wrong the text is for its own.
   */
  get trustInText(): number {
    const elsewhere = this.#between({ narrow: DEFAULTS.textRight, diverse: this.textRight });
    return Math.max(0, 2 * Math.max(this.textRight, elsewhere) - 1);
  }

  /** How much of what was learned counts for a query, in [0, 1]: nothing where it is foreign to all that was seen. */
  of(query: Sighting): number {
    const { nearBand, fitBand, power } = DEFAULTS;
    const near = rising(query.nearest, Math.min(this.nearest, query.near), this.#between(nearBand));
    const fit = rising(query.fit, this.fit, this.#between(fitBand));
    // Of what nobody has used nothing was learned: the text decides.
    const share = Math.min(near, fit) * (query.isNew ? 1 - this.trustInText : 1);
    return share ** this.#between(power);
  }

  #between({ narrow, diverse }: { readonly narrow: number; readonly diverse: number }): number {
    return this.narrowness * narrow + (1 - this.narrowness) * diverse;
  }
}

/** Nothing was ever seen. */
export const UNFAMILIAR = new Familiarity(2, 0, 1);

/** What is usual among the newest of these runs, each compared with those that are not its like. */
export function* learnFamiliarity(
  candidates: Candidates,
  past: PastRuns,
  textScores: (query: IntentForms) => TextScores,
): Generator<void, Familiarity> {
  const nearest: number[] = [];
  const fits: number[] = [];
  let right = 0;
  for (const run of past.runs.slice(-DEFAULTS.runs)) {
    const seen = sightingOf(run, textScores(run), candidates, past, past.alike(run.key));
    nearest.push(seen.nearest);
    fits.push(seen.fit);
    if (run.uses.includes(seen.favourite)) right++;
    yield;
  }
  if (nearest.length === 0) return UNFAMILIAR;
  const usual = quantile(nearest, DEFAULTS.usual);
  const narrowness = narrownessOf(past.uses);
  return new Familiarity(
    Math.max(usual, DEFAULTS.nearWhenNarrow * narrowness ** 2),
    tellingFit(quantile(fits, DEFAULTS.usualFit)),
    right / nearest.length,
    narrowness,
  );
}

/** Where the text of what runs used does not stand out among all candidates, how it fits tells nothing. */
function tellingFit(usual: number): number {
  return usual >= DEFAULTS.leastFit ? usual : Number.NEGATIVE_INFINITY;
}

export function sightingOf(
  query: Pick<IntentForms, 'intent'>,
  { whole, fused }: Pick<TextScores, 'whole' | 'fused'>,
  { size, servers, serverCount }: Pick<Candidates, 'size' | 'servers' | 'serverCount'>,
  past: PastRuns,
  isHidden: (run: number) => boolean = () => false,
): Sighting {
  const cosines = past.cosines(query.intent);
  const nearest = new TopK(DEFAULTS.neighbours);
  const used = new Uint8Array(size);
  for (const [run, uses] of past.uses.entries()) {
    if (isHidden(run)) continue;
    nearest.offer(run, cosines[run]!);
    for (const place of uses) used[place] = 1;
  }
  const near = nearest.sorted();
  const { mean, deviation } = momentsOf(fused);
  let best = Number.NEGATIVE_INFINITY;
  for (const { row } of near) for (const place of past.uses[row]!) best = Math.max(best, fused[place]!);
  let favourite = 0;
  for (let i = 1; i < fused.length; i++) if (fused[i]! > fused[favourite]!) favourite = i;
  const usedShares = sharesOf(used, servers, serverCount);
  const background = momentsOf(whole).mean;
  return {
    nearest: near[0]?.score ?? -1,
    near: background + DEFAULTS.near * (1 - background),
    fit: deviation === 0 || near.length === 0 ? 0 : (best - mean) / deviation,
    isNew: fused.length > 0 && usedShares[servers[favourite]!] === 0,
    used,
    usedShares,
    favourite,
  };
}

function sharesOf(used: Uint8Array, servers: Int32Array, serverCount: number): Float64Array {
  const [uses, sizes] = [new Float64Array(serverCount), new Float64Array(serverCount)];
  for (const [place, server] of servers.entries()) {
    uses[server]! += used[place]!;
    sizes[server]!++;
  }
  return uses.map((count, server) => count / sizes[server]!);
}

/** In (0, 1]: 1 for a past of one kind of run, by what it used; a half where it has shown some more. */
export function narrownessOf(uses: readonly (readonly number[])[]): number {
  const kinds = new Set(uses.map((places) => places.join())).size;
  return 1 / (1 + Math.max(0, kinds - 1) / DEFAULTS.kindsToKnow);
}

/** 1 from `from` on, falling to 0 over `band` below. */
function rising(value: number, from: number, band: number): number {
  return Math.min(1, Math.max(0, 1 - (from - value) / band));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  return sorted[Math.min(last, Math.max(DEFAULTS.strays, Math.floor(share * last)))]!;
}
