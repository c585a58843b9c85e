import type { Floats } from '../../numeric/matrices.ts';
import { relateIntents } from '../../retrieval/intent-actions.ts';
import type { SearchWeights, TextScores } from '../../retrieval/text-scores.ts';
import { SHIPPED_TEXT_CHANCES, type TextChances, textChance } from '../../retrieval/text-scores.ts';
import { searchLogits } from '../terms/fusion-term.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import { type Familiarity, type Sighting, sightingOf } from './familiarity.ts';
import { type PastRuns, pastForTerms } from './past-runs.ts';
import { rankFeatures } from './rank-features.ts';
import type { RankModel } from './rank-model.ts';
import type { RankReason } from './rank-term.ts';

const DEFAULTS = {
  /** Past runs shown as reasons. */
  runs: 3,
  /** If at least this share of a server's tools was used, its unused tools count as deliberately not chosen. */
  wellKnown: 0.5,
  /** Chance by its text from which an unused tool keeps its rank where other tools of its server were used. */
  leastChance: 0.35,
  /** A query becomes foreign as the share of near runs with other verbs rises through this range. */
  others: { from: 0.5, to: 0.75 },
};

/** The strongest contributions to a candidate first, and the most similar past runs that used it. */
export interface RankingReasons {
  readonly parts: readonly RankReason[];
  readonly runs: readonly { readonly intent: string; readonly similarity: number }[];
}

/** All candidates for one intent; one value or row per candidate. */
export interface Ranking {
  readonly text: TextScores;
  /** [candidates x WIDTH] */
  readonly features: Float32Array;
  readonly logits: Floats;
  /** The learned logits alone, however foreign the query is. */
  readonly learned: Floats;
  /** Share of the learned logits in the final ones, in [0, 1]; at 0 they rank exactly like search. */
  readonly familiarity: number;
  /** Familiarity by distance alone, whatever the runs ask for. */
  readonly nearness: number;
  /** Never-used candidates that must not rank lower than by their text, best first. */
  readonly news: readonly number[];
}

/** Weights for text scores; the shipped ones if absent. */
interface TextOptions {
  readonly weights?: SearchWeights | undefined;
  readonly textChances?: TextChances | undefined;
}

/** Ranks candidates for an intent by text, by the tools of past runs, and by the learned model. */
export class Ranker {
  readonly candidates: Candidates;
  readonly past: PastRuns;
  readonly model: RankModel;
  readonly familiarity: Familiarity;
  readonly #weights: SearchWeights | undefined;
  readonly #textChances: TextChances;

  constructor(
    candidates: Candidates,
    past: PastRuns,
    model: RankModel,
    familiarity: Familiarity,
    { weights, textChances = SHIPPED_TEXT_CHANCES }: TextOptions = {},
  ) {
    this.candidates = candidates;
    this.past = past;
    this.model = model;
    this.familiarity = familiarity;
    this.#weights = weights;
    this.#textChances = textChances;
    for (const term of model.terms) term.prepare?.(candidates);
  }

  /** Why a candidate has its rank for this query. */
  explain(query: IntentForms, { features }: Ranking, place: number): RankingReasons {
    const batch = { candidates: this.candidates, examples: [{ features, intent: query.intent }] };
    const cosines = this.past.cosines(query.intent);
    // A private run counts like any other, but its words are not shown.
    const users = this.past.uses.flatMap((uses, run) =>
      uses.includes(place) && !this.past.runs[run]!.isPrivate ? [run] : [],
    );
    return {
      parts: this.model.terms
        .flatMap((term) => term.explain?.(batch, place) ?? [])
        .sort((a, b) => Math.abs(b.moved) - Math.abs(a.moved)),
      runs: users
        .sort((a, b) => cosines[b]! - cosines[a]!)
        .slice(0, DEFAULTS.runs)
        .map((run) => ({ intent: this.past.runs[run]!.text, similarity: cosines[run]! })),
    };
  }

  /** In [0, 1]: low if the past is narrow and its near runs have other verbs than the query. */
  #asksAlike(query: IntentForms, isHidden: (run: number) => boolean = () => false): number {
    const { past } = this;
    const cosines = past.cosines(query.intent).map((cosine, run) => (isHidden(run) ? -1 : cosine));
    const { others } = relateIntents(query.text, past.runs, cosines);
    const { from, to } = DEFAULTS.others;
    const isOther = Math.min(1, Math.max(0, (others - from) / (to - from)));
    return 1 - isOther * this.familiarity.narrowness;
  }

  /** Hidden runs are ignored. */
  rank(query: IntentForms, isHidden?: (run: number) => boolean): Ranking {
    const { candidates, past, model } = this;
    const text = candidates.textScores(query, this.#weights);
    const features = rankFeatures(query, text, candidates, past, isHidden);
    const sighting = sightingOf(query, text, candidates, past, isHidden);
    const nearness = this.familiarity.of(sighting);
    const familiarity = nearness === 0 ? 0 : nearness * this.#asksAlike(query, isHidden);
    const more = model.wantsPast ? pastForTerms(query.intent, past, isHidden) : {};
    const example = { features, intent: query.intent, ...more };
    const [learned] = model.forward({ candidates, examples: [example] });
    const search = searchLogits(features, candidates.size);
    const mixed = learned!.map((logit, i) => familiarity * logit + (1 - familiarity) * search[i]!);
    const news = this.#newsIn(text, sighting);
    const logits = news.length > 0 ? keepingRanks(mixed, text.fused, news) : mixed;
    return { text, features, logits, learned: learned!, familiarity, nearness, news };
  }

  /**
   * Nothing was learned about a server that nobody has used, and too little about unused tools of a server with many
   * of them to overrule a text that fits. Where the best text is usually wrong, it would mislead here as well.
   */
  #newsIn({ fused }: TextScores, { used, usedShares }: Sighting): number[] {
    if (this.familiarity.trustInText === 0) return [];
    const byText = orderOf(fused);
    const scores = Float64Array.from(byText, (place) => fused[place]!);
    return [...byText].filter((place, rank) => {
      const share = usedShares[this.candidates.servers[place]!]!;
      if (used[place] || share >= DEFAULTS.wellKnown) return false;
      return share === 0 || textChance(this.#textChances, scores, rank) >= DEFAULTS.leastChance;
    });
  }
}

/**
 * The same logits, reassigned so that the candidates in `some` rank at least as high as by their text: their rank by
 * text is a deadline, and everything without a deadline follows in order of the logits.
 */
function keepingRanks(logits: Floats, text: ArrayLike<number>, some: readonly number[]): Floats {
  const byLogit = orderOf(logits);
  const isKept = new Uint8Array(logits.length);
  for (const place of some) isKept[place] = 1;
  const isPlaced = new Uint8Array(logits.length);
  const kept = logits.slice();
  let next = 0;
  for (const [rank, due] of orderOf(text).entries()) {
    while (isPlaced[byLogit[next]!]) next++;
    const place = isKept[due] && !isPlaced[due] ? due : byLogit[next]!;
    isPlaced[place] = 1;
    kept[place] = logits[byLogit[rank]!]!;
  }
  return kept;
}

/** Indices by descending score; ties by index. */
function orderOf(scores: ArrayLike<number>): Uint32Array {
  return Uint32Array.from(scores, (_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b);
}
