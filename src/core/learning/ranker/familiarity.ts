import { momentsOf } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';
import type { TextScores } from '../../retrieval/text-scores.ts';
import { type Candidates, type IntentForms, narrownessOf } from './candidates.ts';
import type { PastRuns } from './past-runs.ts';

const DEFAULTS = {
  /** Number of nearest past runs whose tools are compared with the text of a query. */
  neighbours: 5,
  /** Number of newest runs from which the usual distance between runs is learned. */
  runs: 200,
  /** Quantile of the runs' cosines from which on a query counts as near. */
  usual: 0.05,
  usualFit: 0.02,
  /** Least number of runs below the quantile, so that one outlier among few runs does not decide. */
  strays: 3,
  /** Least standard score of a text that stands out. */
  leastFit: 1,
  /** Width of the band in which familiarity falls to 0: in cosine, and in standard deviations of text scores. */
  nearBand: { narrow: 0.15, diverse: 0.25 },
  fitBand: { narrow: 1, diverse: 2 },
  /** Exponent of the share: a diverse past has shown how the ranker does on other kinds of queries. */
  power: { narrow: 1, diverse: 0.3 },
  /** Least cosine for a past of one kind, which has never seen another query. */
  nearWhenNarrow: 0.65,
  /** Share of tasks whose best candidate by text is correct, on six public data sets, and the runs it counts for. */
  textRight: 0.71,
  textRuns: 10,
  /** Share of the way from the cosine with any tool to 1: a scale that is the same in every store. */
  near: 0.6,
};

/** How a query relates to past runs. */
export interface Sighting {
  /** Cosine with the nearest past intent; -1 without any. */
  readonly nearest: number;
  /** Cosine from which an intent is near in any store. */
  readonly near: number;
  /** Fit of the nearest runs' tools to the query's text: greatest standard score among all candidates. */
  readonly fit: number;
  /** The best candidate by text was never used, nor was any other tool of its server. */
  readonly isNew: boolean;
  /** By index: 1 if the candidate was used. */
  readonly used: Uint8Array;
  /** By server: the share of its tools that were used. */
  readonly usedShares: Float64Array;
  /** The best candidate by text. */
  readonly favourite: number;
}

/**
 * Whether a query is of a kind seen before. The usual distance is learned from the runs themselves: how near each
 * was to the others, as if it had not been seen (a conformal measure of strangeness: Laxhammar & Falkman, "Conformal
 * prediction for distribution-independent anomaly detection", 2010). In a narrow past neighbours are near, and a query
 * farther away than its runs are from each other is foreign to it; in a diverse past distant neighbours are usual.
 */
export class Familiarity {
  /** Cosine that most runs reach with their nearest neighbour, and the usual fit of near runs' tools. */
  readonly nearest: number;
  readonly fit: number;
  /** Share of runs whose best candidate by text is correct, as far as the runs tell. */
  readonly textRight: number;
  /** 1 for a past with a single kind of run. */
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
   * In [0, 1]: greater than 0 if the best candidate by text is correct more often than not. A narrow past cannot show
   * that for other work, however wrong the text is for its own.
   */
  get trustInText(): number {
    const elsewhere = this.#between({ narrow: DEFAULTS.textRight, diverse: this.textRight });
    return Math.max(0, 2 * Math.max(this.textRight, elsewhere) - 1);
  }

  /** Weight of the learned logits for a query, in [0, 1]: 0 if the query is foreign to everything seen. */
  of(query: Sighting): number {
    const { nearBand, fitBand, power } = DEFAULTS;
    const near = rising(query.nearest, Math.min(this.nearest, query.near), this.#between(nearBand));
    const fit = rising(query.fit, this.fit, this.#between(fitBand));
    // Nothing was learned about a never-used tool: the text decides.
    const share = Math.min(near, fit) * (query.isNew ? 1 - this.trustInText : 1);
    return share ** this.#between(power);
  }

  #between({ narrow, diverse }: { readonly narrow: number; readonly diverse: number }): number {
    return this.narrowness * narrow + (1 - this.narrowness) * diverse;
  }
}

/** For a store without any runs. */
export const UNFAMILIAR = new Familiarity(2, 0, 1);

/** Learns the usual distances from the newest runs, each compared with runs of other work only. */
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
    (right + DEFAULTS.textRuns * DEFAULTS.textRight) / (nearest.length + DEFAULTS.textRuns),
    narrowness,
  );
}

/** If the text of used tools does not stand out among all candidates, its fit carries no information. */
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

/** 1 from `from` on, falling to 0 over `band` below it. */
function rising(value: number, from: number, band: number): number {
  return Math.min(1, Math.max(0, 1 - (from - value) / band));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  return sorted[Math.min(last, Math.max(DEFAULTS.strays, Math.floor(share * last)))]!;
}
