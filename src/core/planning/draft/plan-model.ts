import { mean } from '../../learning/gate/metrics.ts';
import type { IntentForms } from '../../learning/ranker/candidates.ts';
import { blockOf, type ParamsBlock } from '../../learning/ranker/params-file.ts';
import { logOdds } from '../../numeric/matrices.ts';
import { EDGE_FEATURES, EDGE_WIDTH, type EdgeTexts, edgeFeatures } from './edge-features.ts';
import {
  GUESS_WIDTH,
  guessFeatures,
  MEMBERSHIP_FEATURES,
  MEMBERSHIP_WIDTH,
  membershipFeatures,
  type Shortlist,
  shortlistOf,
} from './membership-features.ts';
import { type OrderForm, orderSet, type SetOrder } from './order-set.ts';
import type { PlanHistory } from './plan-history.ts';
import { PlanCalibration } from './plan-record.ts';
import { SmallNet } from './small-net.ts';

/** What was learned from past runs, beside the runs themselves. */
export interface PlanNets {
  /** Chance that the tools have an order at all, by the intent's vector; a number where it is always the same. */
  readonly ordered: SmallNet | number;
  /** Chance to belong, by the ranker's word alone. */
  readonly guess: SmallNet;
  /** The same, by what past runs say besides: several that learned from different runs, of equal weight. */
  readonly membership: readonly SmallNet[];
  /** What a set's F1 is, by what it expects of itself, as log-odds. */
  readonly confidence: SmallNet;
  /** Chance that one waits for the other, if anything does. */
  readonly edges: SmallNet;
  readonly form: OrderForm;
  /** What plans without the support of near runs are worth; null where too few runs show that. */
  readonly calibration: PlanCalibration | null;
}

/** A candidate and its chance to belong to the set. */
export interface ChosenTool {
  readonly place: number;
  readonly chance: number;
}

export interface DraftedPlan {
  /** Likeliest first; after them those that are used once more. */
  readonly tools: readonly ChosenTool[];
  /** By place in `tools`; acyclic. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly weight: number }[];
  /** The next likely ones that were left out. */
  readonly rest: readonly ChosenTool[];
  /** How far the tools agree with what is right, as is to be expected: their F1. */
  readonly confidence: number;
}

/** A set chosen by expected F1. */
export interface Choice {
  readonly chosen: readonly ChosenTool[];
  readonly rest: readonly ChosenTool[];
  readonly expectedF1: number;
}

/** From a ranking of all candidates to a set of them, and an order in it. */
export class PlanModel {
  readonly history: PlanHistory;
  readonly texts: EdgeTexts;
  readonly nets: PlanNets;

  constructor(history: PlanHistory, texts: EdgeTexts, nets: PlanNets) {
    this.history = history;
    this.texts = texts;
    this.nets = nets;
  }

  /** `logits` are the ranker's, one per tool. */
  draft(query: IntentForms, logits: ArrayLike<number>): DraftedPlan {
    const view = this.history.without(null);
    const cosines = this.history.cosines(query.intent);
    const shortlist = shortlistOf(logits);
    const guesses = chancesOf(this.nets.guess, guessFeatures(shortlist), GUESS_WIDTH);
    const ordered = orderChance(this.nets.ordered, query.intent);
    const rows = membershipFeatures(shortlist, guesses, ordered, cosines, view);
    const opinions = this.nets.membership.map((net) => chancesOf(net, rows, MEMBERSHIP_WIDTH));
    const { chosen, rest, expectedF1 } = chooseSet(
      shortlist,
      shortlist.places.map((_, i) => mean(opinions.map((chances) => chances[i]!))),
    );
    const features = edgeFeatures(query, { tools: chosen, logits }, this.texts, cosines, view);
    // Chances of edges are learned from runs that have an order.
    const chances = chancesOf(this.nets.edges, features, EDGE_WIDTH).map((chance) => chance * ordered);
    const order = orderSet(chances, chosen.length, this.nets.form);
    const confidence = this.nets.confidence.chance(Float32Array.of(logitOf(expectedF1)));
    return { ...withRepeats(chosen, order), rest, confidence };
  }
}

/** Log-odds of a chance that may be certain. */
export function logitOf(chance: number): number {
  return logOdds(Math.min(0.999, Math.max(0.001, chance)));
}

/** The set of greatest expected F1. */
export function chooseSet({ places }: Shortlist, chances: readonly number[]): Choice {
  const sorted = places
    .map((place, i) => ({ place, chance: chances[i]! }))
    .sort((a, b) => b.chance - a.chance || a.place - b.place);
  const { size, expectedF1 } = bestSize(sorted.map(({ chance }) => chance));
  return { chosen: sorted.slice(0, size), rest: sorted.slice(size), expectedF1 };
}

/** What is used again stands among the tools once more, behind all of those it comes after. */
function withRepeats(
  tools: readonly ChosenTool[],
  { edges, again }: SetOrder,
): Pick<DraftedPlan, 'tools' | 'edges'> {
  const repeated = [...new Set(again.map(({ to }) => to))];
  const more = again.map(({ from, to, weight }) => ({
    from,
    to: tools.length + repeated.indexOf(to),
    weight,
  }));
  return { tools: [...tools, ...repeated.map((place) => tools[place]!)], edges: [...edges, ...more] };
}

export function orderChance(ordered: PlanNets['ordered'], intent: Float32Array): number {
  return typeof ordered === 'number' ? ordered : ordered.chance(intent);
}

/** One chance per row. */
export function chancesOf(net: SmallNet, rows: Float32Array, width: number): number[] {
  return Array.from({ length: rows.length / width }, (_, i) => net.chance(rows, i * width));
}

/** Counts up when the same features come to mean something else. */
const VERSION = 3;

/** What the numbers of nets mean: those learned from other features are of no use. */
export const PLAN_FORM = [VERSION, GUESS_WIDTH, ...MEMBERSHIP_FEATURES, ...EDGE_FEATURES].join(' ');

type Values = ReadonlyMap<string, Float32Array>;

/** All that was learned, as numbers under names. Kept in single precision: chances move in the seventh digit. */
export function planBlocks(nets: PlanNets): ParamsBlock[] {
  const { ordered, guess, membership, confidence, edges, form, calibration } = nets;
  return [
    ...(typeof ordered === 'number' ? [block('ordered', [ordered])] : netBlocks('ordered', ordered)),
    ...netBlocks('guess', guess),
    block('membership', [membership.length]),
    ...membership.flatMap((net, i) => netBlocks(`membership.${i}`, net)),
    ...netBlocks('confidence', confidence),
    ...netBlocks('edges', edges),
    block('is_chain', [form === 'chain' ? 1 : 0]),
    block('is_calibrated', [calibration ? 1 : 0]),
    block('calibration', calibration?.weights ?? new Float32Array(PlanCalibration.WIDTH)),
  ];
}

/** What `planBlocks` gave; `dimension` is that of an intent's vector. */
export function planNetsOf(values: Values, dimension: number): PlanNets {
  const opinions = blockOf(values, 'membership', 1)[0]!;
  return {
    ordered: values.has('ordered') ? blockOf(values, 'ordered', 1)[0]! : netOf(values, 'ordered', dimension),
    guess: netOf(values, 'guess', GUESS_WIDTH),
    membership: Array.from({ length: opinions }, (_, i) =>
      netOf(values, `membership.${i}`, MEMBERSHIP_FEATURES.length),
    ),
    confidence: netOf(values, 'confidence', 1),
    edges: netOf(values, 'edges', EDGE_FEATURES.length),
    form: blockOf(values, 'is_chain', 1)[0] === 1 ? 'chain' : 'graph',
    calibration: calibrationOf(values),
  };
}

function calibrationOf(values: Values): PlanCalibration | null {
  const weights = blockOf(values, 'calibration', PlanCalibration.WIDTH);
  return blockOf(values, 'is_calibrated', 1)[0] === 1 ? new PlanCalibration(weights) : null;
}

function netBlocks(name: string, { state }: SmallNet): ParamsBlock[] {
  return [
    block(`${name}.hidden`, [state.hidden]),
    block(`${name}.means`, state.means),
    block(`${name}.scales`, state.scales),
    block(`${name}.weights`, state.weights),
  ];
}

function netOf(values: Values, name: string, width: number): SmallNet {
  const hidden = blockOf(values, `${name}.hidden`, 1)[0]!;
  const numbers = (part: string, length: number) =>
    Float64Array.from(blockOf(values, `${name}.${part}`, length));
  return new SmallNet({
    hidden,
    means: numbers('means', width),
    scales: numbers('scales', width),
    weights: numbers('weights', width + 1 + hidden * (width + 2)),
  });
}

function block(name: string, values: ArrayLike<number>): ParamsBlock {
  return { name, values: Float32Array.from(values) };
}

/** How many of the best to take, and what share of them will be right by then. */
interface SetSize {
  readonly size: number;
  readonly expectedF1: number;
}

/**
 * The number of best candidates with the greatest expected F1, given each one's chance to belong,
 * independently, greatest first (Jansche, "A maximum expected utility framework for binary sequence
 * labeling", 2007; Ye et al., "Optimizing F-measures: a tale of two approaches", 2012).
 * E[F1 of the best k] = sum over a, b of P(a of the k belong) P(b of the rest belong) 2a / (k + a + b).
 */
export function bestSize(chances: readonly number[], least = 1): SetSize {
  const n = chances.length;
  // rest[k][b]: the chance that exactly b of the candidates from k on belong.
  const rest: Float64Array[] = new Array(n + 1);
  rest[n] = Float64Array.of(1);
  for (let k = n - 1; k >= 0; k--) rest[k] = withOneMore(rest[k + 1]!, chances[k]!);
  let inside: Float64Array = Float64Array.of(1);
  let best = { size: 0, expectedF1: least === 0 ? rest[0]![0]! : -1 };
  for (let k = 1; k <= n; k++) {
    inside = withOneMore(inside, chances[k - 1]!);
    if (k < least) continue;
    const after = rest[k]!;
    let expected = 0;
    for (let a = 1; a < inside.length; a++) {
      if (inside[a]! < 1e-9) continue;
      for (let b = 0; b < after.length; b++) expected += (inside[a]! * after[b]! * 2 * a) / (k + a + b);
    }
    if (expected > best.expectedF1) best = { size: k, expectedF1: expected };
  }
  return best;
}

/** The distribution of a count once another independent event is counted too. */
function withOneMore(counts: Float64Array, chance: number): Float64Array {
  const more = new Float64Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    more[i]! += counts[i]! * (1 - chance);
    more[i + 1]! += counts[i]! * chance;
  }
  return more;
}
