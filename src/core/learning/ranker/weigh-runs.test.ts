import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { dot, normalise } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import { weighRuns } from './weigh-runs.ts';

const seed = proofSeed();
const DIMENSION = 48;
const CLUSTERS = 10;
const TOOLS_PER_CLUSTER = 6;

const near = (centre: Float32Array, noise: number, random: Random) =>
  normalise(centre.map((value) => value + (noise * random.normal()) / Math.sqrt(DIMENSION)));

/**
 * Runs of ten kinds of work with six tools each; one run in five is poisoned with random tools.
 * With much `textNoise`, the tools' texts have nothing to do with their work.
 */
function world(count: number, { textNoise = 0.8, random = createRandom(seed) } = {}) {
  const centres = Array.from({ length: CLUSTERS }, () => near(new Float32Array(DIMENSION), 1, random));
  const tools = centres.flatMap((centre) =>
    Array.from({ length: TOOLS_PER_CLUSTER }, () => near(centre, textNoise, random)),
  );
  const kinds = Array.from({ length: count }, () => random.int(CLUSTERS));
  const intents = kinds.map((kind) => near(centres[kind]!, 0.6, random));
  const uses = kinds.map((kind) => {
    const places = Array.from({ length: TOOLS_PER_CLUSTER }, (_, i) => kind * TOOLS_PER_CLUSTER + i);
    return random.shuffle(places).slice(0, 1 + random.int(3));
  });
  const isPoisoned = kinds.map((_, run) => run % 5 === 0);
  const poisoned = uses.map((own, run) =>
    isPoisoned[run] ? [...new Set(own.map(() => random.int(tools.length)))] : own,
  );
  const all = (what: readonly (readonly number[])[], succeeded = kinds.map(() => true)) =>
    weighRuns({
      uses: what,
      succeeded,
      similarities: (run) => intents.map((other) => dot(intents[run]!, other)),
      cosines: (run) => tools.map((tool) => dot(intents[run]!, tool)),
    });
  const weigh = (...told: Parameters<typeof all>) => all(...told).beliefs;
  return { kinds, uses, poisoned, isPoisoned, intents, tools, all, weigh };
}

const meanOf = (weights: Float64Array, keep: (run: number) => boolean) => {
  const kept = weights.filter((_, run) => keep(run));
  return kept.reduce((sum, weight) => sum + weight, 0) / kept.length;
};

test('[WEIGH-1] runs with random tools weigh far less than clean ones', () => {
  const { poisoned, isPoisoned, weigh } = world(300);
  const weights = weigh(poisoned);
  expect(meanOf(weights, (run) => isPoisoned[run]!)).toBeLessThan(0.35);
  expect(meanOf(weights, (run) => !isPoisoned[run])).toBeGreaterThan(0.9);
});

test('[WEIGH-1] also where the text does not identify tools', () => {
  const { poisoned, isPoisoned, weigh } = world(300, { textNoise: 50 });
  const weights = weigh(poisoned);
  expect(meanOf(weights, (run) => isPoisoned[run]!)).toBeLessThan(0.5);
  expect(meanOf(weights, (run) => !isPoisoned[run])).toBeGreaterThan(0.85);
});

test('[WEIGH-1] and where no run resembles another by its text', () => {
  const { uses, poisoned, isPoisoned, tools, intents } = world(100);
  const weights = weighRuns({
    uses: poisoned,
    succeeded: uses.map(() => true),
    similarities: () => new Float32Array(uses.length),
    cosines: (run) => tools.map((tool) => dot(intents[run]!, tool)),
  }).beliefs;
  expect(meanOf(weights, (run) => isPoisoned[run]!)).toBeLessThan(0.5);
  expect(meanOf(weights, (run) => !isPoisoned[run])).toBeGreaterThan(0.9);
});

test('[WEIGH-5] the verdict of a person is the weight of a run, whatever other runs used and however it ended', () => {
  const { uses, poisoned, isPoisoned, intents, tools } = world(300);
  const lone = isPoisoned.indexOf(true);
  const usual = isPoisoned.indexOf(false);
  const { beliefs, lessons } = weighRuns({
    uses: poisoned,
    succeeded: uses.map((_, run) => run !== lone),
    verdicts: uses.map((_, run) => (run === lone ? 'good' : run === usual ? 'bad' : undefined)),
    similarities: (run) => intents.map((other) => dot(intents[run]!, other)),
    cosines: (run) => tools.map((each) => dot(intents[run]!, each)),
  });
  expect([beliefs[lone], lessons[lone]]).toEqual([1, 1]);
  expect(beliefs[usual]).toBeLessThan(0.1);
  expect(lessons[usual]).toBeLessThan(0.1);
});

test('[WEIGH-2] clean runs keep their weight, and the first few are largely trusted, whatever they used', () => {
  const clean = world(300);
  expect(meanOf(clean.weigh(clean.uses), () => true)).toBeGreaterThan(0.95);
  const few = world(5);
  expect(Math.min(...few.weigh(few.poisoned))).toBeGreaterThan(0.5);
  const one = world(1);
  expect(one.weigh(one.poisoned)[0]).toBeGreaterThan(0.9);
});

test('[WEIGH-2] a failed run weighs less, and random flags leave clean runs their order above poisoned ones', () => {
  const { uses, poisoned, isPoisoned, weigh } = world(300);
  const oneFailed = weigh(
    uses,
    uses.map((_, run) => run !== 7),
  );
  expect(oneFailed[7]).toBeCloseTo(0.4, 1);
  const random = createRandom(seed);
  const weights = weigh(
    poisoned,
    poisoned.map(() => random.next() > 0.1),
  );
  expect(meanOf(weights, (run) => isPoisoned[run]!)).toBeLessThan(0.35);
  expect(meanOf(weights, (run) => !isPoisoned[run])).toBeGreaterThan(0.85);
});

test('[WEIGH-4] doubted runs train with full weight while they are few, and with less when they are many', () => {
  const { uses, poisoned, isPoisoned, all } = world(300);
  expect(Math.min(...all(uses).lessons)).toBe(1);
  const { beliefs, lessons } = all(poisoned);
  expect(meanOf(lessons, (run) => isPoisoned[run]!)).toBeCloseTo(
    meanOf(beliefs, (run) => isPoisoned[run]!),
    5,
  );
  const failed = all(
    uses,
    uses.map((_, run) => run !== 7),
  );
  expect(failed.lessons[7]).toBeCloseTo(0.4, 5);
});

test('[WEIGH-3] a run is not evidence for itself, and neither are runs hidden from it', () => {
  const { kinds, uses, tools, intents } = world(100, { textNoise: 50 });
  const elsewhere = ((kinds[0]! + 1) % CLUSTERS) * TOOLS_PER_CLUSTER;
  // The same odd run three times; without hiding, they would support each other.
  const odd = [1, 2, 3].map(() => [elsewhere]);
  const all = [...uses, ...odd];
  const vectors = [...intents, ...odd.map(() => intents[0]!)];
  const first = uses.length;
  const weigh = (isHidden?: (run: number, other: number) => boolean) =>
    weighRuns({
      uses: all,
      succeeded: all.map(() => true),
      similarities: (run) => vectors.map((other) => dot(vectors[run]!, other)),
      cosines: (run) => tools.map((tool) => dot(vectors[run]!, tool)),
      ...(isHidden && { isHidden }),
    }).beliefs;
  const apart = weigh((run, other) => run >= first && other >= first)[first]!;
  expect(apart).toBeLessThan(0.5);
  expect(weigh()[first]).toBeGreaterThan(2 * apart);
});

test('[WEIGH-3] weights are in (0, 1], whatever the numbers', () => {
  const run = fc.record({
    uses: fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 5 }),
    success: fc.boolean(),
    similarities: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 }),
    cosines: fc.array(fc.constantFrom(-1, 0, 0.3, 1), { minLength: 5, maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
      const { beliefs, lessons } = weighRuns({
        uses: runs.map(({ uses }) => uses),
        succeeded: runs.map(({ success }) => success),
        similarities: (i) => runs[i]!.similarities,
        cosines: (i) => runs[i]!.cosines,
      });
      expect(beliefs).toHaveLength(runs.length);
      expect(lessons).toHaveLength(runs.length);
      for (const weight of [...beliefs, ...lessons]) expect(weight > 0 && weight <= 1).toBe(true);
    }),
    { seed, numRuns: proofRuns(500) },
  );
});
