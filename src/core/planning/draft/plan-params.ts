import { blockOf, type ParamsBlock } from '../../learning/ranker/params-file.ts';
import { EDGE_FEATURES } from './edge-features.ts';
import { GUESS_WIDTH, MEMBERSHIP_FEATURES } from './membership-features.ts';
import type { PlanNets } from './plan-model.ts';
import { SmallNet } from './small-net.ts';

/** Counts up when the same features come to mean something else. */
const VERSION = 1;

/** What the numbers of nets mean: those learned from other features are of no use. */
export const PLAN_FORM = [VERSION, GUESS_WIDTH, ...MEMBERSHIP_FEATURES, ...EDGE_FEATURES].join(' ');

type Values = ReadonlyMap<string, Float32Array>;

/** All that was learned, as numbers under names. Kept in single precision: chances move in the seventh digit. */
export function planBlocks({ ordered, guess, membership, confidence, edges, form }: PlanNets): ParamsBlock[] {
  return [
    ...(typeof ordered === 'number' ? [block('ordered', [ordered])] : netBlocks('ordered', ordered)),
    ...netBlocks('guess', guess),
    block('membership', [membership.length]),
    ...membership.flatMap((net, i) => netBlocks(`membership.${i}`, net)),
    ...netBlocks('confidence', confidence),
    ...netBlocks('edges', edges),
    block('is_chain', [form === 'chain' ? 1 : 0]),
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
  };
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
