import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { decodeParams, encodeParams } from '../../learning/ranker/params-file.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import { EDGE_WIDTH } from './edge-features.ts';
import { GUESS_WIDTH, MEMBERSHIP_WIDTH } from './membership-features.ts';
import { bestSize, type PlanNets, planBlocks, planNetsOf } from './plan-model.ts';
import { PlanCalibration } from './plan-record.ts';
import { SmallNet } from './small-net.ts';

const DIMENSION = 8;
const HEAD = { embedding: 'tiny', dimension: DIMENSION, runs: 3 };

function netOf(width: number, hidden: number, random: Random): SmallNet {
  const numbers = (length: number) => Float64Array.from({ length }, () => random.normal());
  return new SmallNet({
    hidden,
    means: numbers(width),
    scales: numbers(width),
    weights: numbers(width + 1 + hidden * (width + 2)),
  });
}

function netsOf(seed: number, hidden: number, isOrdered: boolean): PlanNets {
  const random = createRandom(seed);
  return {
    ordered: isOrdered ? 0.75 : netOf(DIMENSION, 0, random),
    guess: netOf(GUESS_WIDTH, 0, random),
    membership: [1, 2, 3].map(() => netOf(MEMBERSHIP_WIDTH, hidden, random)),
    confidence: netOf(1, 0, random),
    edges: netOf(EDGE_WIDTH, hidden, random),
    form: seed % 2 === 0 ? 'chain' : 'graph',
    calibration: seed % 3 === 0 ? null : new PlanCalibration([0.5, 0.75, -1, 0.25, -0.5]),
  };
}

const read = (nets: PlanNets) =>
  planNetsOf(decodeParams(encodeParams(HEAD, planBlocks(nets))).values, DIMENSION);

test('[LEARN-15] stored networks give the same probabilities to the seventh digit, and are stored again bit by bit', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.constantFrom(0, 24), fc.boolean(), (seed, hidden, isOrdered) => {
      const nets = netsOf(seed, hidden, isOrdered);
      const again = read(nets);
      expect(again.form).toBe(nets.form);
      expect(again.calibration).toEqual(nets.calibration);
      expect(again.membership).toHaveLength(3);
      expect(typeof again.ordered).toBe(typeof nets.ordered);
      const random = createRandom(seed + 1);
      const pairs = [
        [nets.edges, again.edges],
        [nets.confidence, again.confidence],
        ...nets.membership.map((net, i) => [net, again.membership[i]!] as const),
      ] as const;
      for (const [net, kept] of pairs) {
        const row = Float32Array.from(net.state.means, () => random.normal());
        expect(kept.chance(row)).toBeCloseTo(net.chance(row), 4);
      }
      expect(planBlocks(read(again))).toEqual(planBlocks(again));
    }),
    { numRuns: proofRuns(100), seed: proofSeed() },
  );
});

test('[LEARN-16] networks with a missing part or a part of another length are refused', () => {
  const { values } = decodeParams(encodeParams(HEAD, planBlocks(netsOf(1, 24, false))));
  const refused = expect.objectContaining({ code: 'invalid_argument' });
  for (const [name, numbers] of values) {
    const without = new Map(values);
    without.delete(name);
    expect(() => planNetsOf(without, DIMENSION), name).toThrow(refused);
    const longer = new Map(values).set(name, Float32Array.of(...numbers, 0));
    expect(() => planNetsOf(longer, DIMENSION), name).toThrow(refused);
  }
  expect(() => planNetsOf(values, DIMENSION + 1)).toThrow(refused);
});

test('[PLAN-7] certain tools are chosen and unlikely ones left out', () => {
  expect(bestSize([1, 1, 0, 0])).toEqual({ size: 2, expectedF1: 1 });
  expect(bestSize([0.95, 0.9, 0.05, 0.01]).size).toBe(2);
});

test('[PLAN-7] a tool with less than half the value of the set is not chosen', () => {
  // E[F1] of one: .9 x (.6 x 1 + .4 x 2/3) = .78; of two: .36 x 1 + (.54 + .04) x 2/3 = .7467.
  const { size, expectedF1 } = bestSize([0.9, 0.4]);
  expect(size).toBe(1);
  expect(expectedF1).toBeCloseTo(0.78, 12);
});

test('[PLAN-7] where nothing is likely, several are chosen, since one of them may be right', () => {
  expect(bestSize([0.2, 0.2, 0.2, 0.2, 0.2]).size).toBeGreaterThan(2);
});
