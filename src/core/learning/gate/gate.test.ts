import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { createRandom } from '../../numeric/random.ts';
import { CLOSED_GATE, decideGate, type GateState, NO_EVIDENCE } from './gate.ts';
import { pairedBootstrap } from './paired-bootstrap.ts';

const seed = proofSeed();
const metric = fc.double({ min: 0, max: 1, noNaN: true });
const near = (learned: number[], hybrid: number[]) => ({
  ...NO_EVIDENCE,
  learned,
  hybrid,
  keys: [...learned.keys()],
});
const decide = (before: GateState, learned: number[], hybrid: number[], now = 1) =>
  decideGate(before, near(learned, hybrid), { random: createRandom(7), now });
const OPEN: GateState = { ...CLOSED_GATE, open: true, gain: 0.1, ci95: [0.05, 0.15], n: 50, since: 0 };

describe('paired bootstrap', () => {
  test('[GATE-1] the interval contains the mean and is as wide as theory says', () => {
    const random = createRandom(seed);
    const b = Array.from({ length: 400 }, () => random.next());
    const a = b.map((value) => value + 0.1 + 0.2 * random.normal());
    const { gain, ci95 } = pairedBootstrap(a, b, random);
    expect(ci95[0]).toBeLessThan(gain);
    expect(ci95[1]).toBeGreaterThan(gain);
    // 2 x 1.96 standard errors, however much the queries themselves vary.
    expect(ci95[1] - ci95[0]).toBeGreaterThan(0.8 * 2 * 1.96 * (0.2 / 20));
    expect(ci95[1] - ci95[0]).toBeLessThan(1.2 * 2 * 1.96 * (0.2 / 20));
  });

  test('[GATE-1] about 95 of 100 intervals contain the true gain', () => {
    const random = createRandom(seed);
    let held = 0;
    for (let trial = 0; trial < 400; trial++) {
      const gains = Array.from({ length: 50 }, () => 0.05 + 0.3 * random.normal());
      const { ci95 } = pairedBootstrap(gains, new Float64Array(50), random, { resamples: 400 });
      if (ci95[0] <= 0.05 && ci95[1] >= 0.05) held++;
    }
    expect(held / 400).toBeGreaterThan(0.9);
    expect(held / 400).toBeLessThan(0.98);
  });

  test('[GATE-1] the same seed gives the same interval, and no pairs give 0', () => {
    const a = [0.2, 0.9, 0.4, 1];
    const b = [0.1, 1, 0.3, 0.5];
    expect(pairedBootstrap(a, b, createRandom(3))).toEqual(pairedBootstrap(a, b, createRandom(3)));
    expect(pairedBootstrap([], [], createRandom(3))).toEqual({ gain: 0, ci95: [0, 0] });
  });
});

describe('gate', () => {
  test('[GATE-2] a ranker that is equal to hybrid search, or worse overall, never opens it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(metric, metric), { maxLength: 150 }), (pairs) => {
        const hybrid = pairs.map(([value]) => value);
        expect(decide(CLOSED_GATE, hybrid, hybrid).open).toBe(false);
        const [better, worse] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
        const newest = (values: number[]) => values.slice(-100).reduce((sum, value) => sum + value, 0);
        const [learned, other] = newest(better) <= newest(worse) ? [better, worse] : [worse, better];
        expect(decide(CLOSED_GATE, learned, other).open).toBe(false);
      }),
      { seed, numRuns: proofRuns(300) },
    );
  });

  test('[GATE-2] a clearly better ranker opens it, from ten held-back queries on', () => {
    const random = createRandom(seed);
    const hybrid = Array.from({ length: 40 }, () => 0.5 * random.next());
    const learned = hybrid.map((value) => value + 0.2 + 0.1 * random.normal());
    const state = decide(CLOSED_GATE, learned, hybrid, 42);
    expect(state).toMatchObject({ open: true, n: 40, since: 42 });
    expect(state.gain).toBeCloseTo(0.2, 1);
    expect(decide(CLOSED_GATE, learned.slice(0, 10), hybrid.slice(0, 10)).open).toBe(true);
    expect(decide(CLOSED_GATE, learned.slice(0, 9), hybrid.slice(0, 9)).open).toBe(false);
  });

  test('[GATE-7] once open it stays open while there is no evidence against it', () => {
    const hybrid = Array.from({ length: 50 }, () => 0.5);
    const mixed = hybrid.map((value, i) => value + (i % 2 === 0 ? 0.3 : -0.31));
    expect(decide(CLOSED_GATE, mixed, hybrid)).toMatchObject({ open: false, since: null });
    expect(decide(OPEN, mixed, hybrid, 99)).toMatchObject({ open: true, since: 0, n: 50 });
    expect(decide(OPEN, hybrid, hybrid).open).toBe(true);
  });

  test('[GATE-3] it closes when the interval lies below 0, or the mean does on a full window', () => {
    const hybrid = Array.from({ length: 100 }, () => 0.5);
    const worse = hybrid.slice(0, 30).map((value, i) => value - 0.2 - 0.01 * (i % 3));
    expect(decide(OPEN, worse, hybrid.slice(0, 30), 99)).toMatchObject({ open: false, since: 99 });
    const hardlyWorse = hybrid.map((value, i) => value + (i % 2 === 0 ? 0.3 : -0.31));
    const closed = decide(OPEN, hardlyWorse, hybrid);
    expect(closed.ci95[1]).toBeGreaterThan(0);
    expect(closed.open).toBe(false);
  });

  test('[GATE-3] it closes when too few held-back queries are left as evidence', () => {
    expect(decide(OPEN, [1, 1, 1], [0, 0, 0])).toMatchObject({ open: false, n: 3 });
  });

  test('[GATE-3] only the newest queries of the window count', () => {
    const hybrid = Array.from({ length: 300 }, () => 0.5);
    const learned = hybrid.map((value, i) => (i < 200 ? value + 0.4 : value - 0.1));
    expect(decide(CLOSED_GATE, learned, hybrid)).toMatchObject({ open: false, n: 100 });
  });

  test('[GATE-7] noise around 0 switches it far less often than the sign of its mean changes', () => {
    const { decisions, flips, signChanges } = watchNoise(seed);
    expect(flips).toBeLessThan(signChanges * 0.6);
    expect(flips / decisions).toBeLessThan(0.06);
  });
});

describe('gate on foreign questions', () => {
  const hybrid = Array.from({ length: 40 }, () => 0.5);
  const better = hybrid.map((value, i) => value + 0.2 + 0.01 * (i % 3));
  const far = (loss: number) => ({
    learned: hybrid.map((value) => value - loss),
    hybrid,
    keys: [...hybrid.keys()],
  });
  const judge = (before: GateState, loss: number) =>
    decideGate(before, { ...near(better, hybrid), far: far(loss) }, { random: createRandom(7), now: 9 });

  test('[GATE-5] a gain on runs does not open it while results on foreign questions are worse, and it closes once they are', () => {
    expect(judge(CLOSED_GATE, 0)).toMatchObject({ open: true, far: { gain: 0, n: 40 } });
    expect(judge(CLOSED_GATE, 0.02)).toMatchObject({ open: false });
    expect(judge(CLOSED_GATE, 0.02).far.gain).toBeCloseTo(-0.02);
    expect(judge(OPEN, 0.02)).toMatchObject({ open: false, since: 9 });
  });

  test('[GATE-6] the same work many times is one piece of evidence', () => {
    const mixed = hybrid.map((value, i) => value + (i < 36 ? 0.3 : -0.3));
    const judged = (keys: number[]) =>
      decideGate(CLOSED_GATE, { ...near(mixed, hybrid), keys }, { random: createRandom(7), now: 1 });
    expect(judged([...hybrid.keys()]).open).toBe(true);
    expect(judged(hybrid.map((_, i) => (i < 36 ? 0 : i))).open).toBe(false);
  });
});

/** Five streams of 1,000 queries in which learned and hybrid differ by chance only, judged every ten queries. */
function watchNoise(from: number): { decisions: number; flips: number; signChanges: number } {
  let decisions = 0;
  let flips = 0;
  let signChanges = 0;
  for (let stream = 0; stream < 5; stream++) {
    const random = createRandom(from + stream);
    const learned: number[] = [];
    let state = CLOSED_GATE;
    for (let i = 1; i <= 1000; i++) {
      learned.push(0.3 * random.normal());
      if (i % 10 > 0) continue;
      const next = decideGate(state, near(learned, new Array<number>(i).fill(0)), { random, now: i });
      decisions++;
      if (next.open !== state.open) flips++;
      if (Math.sign(next.gain) !== Math.sign(state.gain)) signChanges++;
      state = next;
    }
  }
  return { decisions, flips, signChanges };
}
