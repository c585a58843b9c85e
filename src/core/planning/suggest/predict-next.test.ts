import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { tinyIntent, tinyRun, tinyTool, tinyTools } from '../../../../test/support/tiny-history.ts';
import { type LearnedNext, learnNext } from '../../learning/next/learn-next.ts';
import type { LearnableRun } from '../../learning/ranker/learn-ranker.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { DONE_NODE, predictNext } from './predict-next.ts';

const SIZE = 8;
const candidates = tinyTools(SIZE);
const multiplier = new WasmMultiplier();

function learnedFrom(runs: readonly LearnableRun[]): LearnedNext {
  const steps = learnNext({ candidates, runs, multiplier, seed: 1 });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Always 0, 1, 1, 5 and then the end. */
const taught = learnedFrom(Array.from({ length: 24 }, (_, i) => tinyRun(i, [0, 1, 1, 5])));
const INTENT = tinyIntent(99);

test('[NEXT-5] the step that always followed comes first, with the reason in plain words', () => {
  const [first] = predictNext(taught, INTENT, [tinyTool(0)]);
  expect(first).toMatchObject({ node: tinyTool(1), reason: `followed ${tinyTool(0)} in 24 of 24 runs` });
  const after = predictNext(taught, INTENT, [tinyTool(0), tinyTool(1)]);
  expect(after[0]?.node).toBe(tinyTool(1));
  expect(after[0]?.reason).toBe('was called again right away in 24 of 24 runs');
});

test('[NEXT-5] DONE comes first where every run ended, and not before', () => {
  const whole = [0, 1, 1, 5].map(tinyTool);
  const [end] = predictNext(taught, INTENT, whole);
  expect(end).toMatchObject({ node: DONE_NODE, reason: `24 of 24 runs with ${tinyTool(5)} ended after it` });
  for (const steps of [1, 2, 3])
    expect(predictNext(taught, INTENT, whole.slice(0, steps))[0]?.node).not.toBe(DONE_NODE);
});

test('[NEXT-8] repeating the last call is predicted from how often it was made in a row', () => {
  const nodeAfter = (...before: number[]) => predictNext(taught, INTENT, before.map(tinyTool))[0]!;
  expect(nodeAfter(0, 1)).toMatchObject({ node: tinyTool(1) });
  expect(nodeAfter(0, 1, 1)).toMatchObject({ node: tinyTool(5) });
});

test('[NEXT-6] without past runs the next steps are those that search finds, in its order', () => {
  const { fused } = candidates.textScores(INTENT);
  const bySearch = [...candidates.ids.keys()].sort((a, b) => fused[b]! - fused[a]!).map(tinyTool);
  const answers = predictNext(learnedFrom([]), INTENT, [tinyTool(2)], SIZE + 1);
  expect(answers.map(({ node }) => node).filter((node) => node !== DONE_NODE)).toEqual(bySearch);
  expect(answers[0]).toMatchObject({ node: bySearch[0], reason: 'fits the intent' });
  expect(predictNext(learnedFrom([]), INTENT, []).map(({ node }) => node)).toEqual(bySearch.slice(0, 5));
});

test('[NEXT-7] unknown executed steps are skipped', () => {
  const known = predictNext(taught, INTENT, [tinyTool(0), tinyTool(1)]);
  const executed = ['gone:tool', tinyTool(0), 'other:tool', tinyTool(1), 'gone:tool'];
  expect(predictNext(taught, INTENT, executed)).toEqual(known);
});

test('[NEXT-7] every answer is a probability, the best first, and all of them add up to 1', () => {
  const places = fc.array(fc.integer({ min: 0, max: SIZE - 1 }), { maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(places, { maxLength: 14 }),
      places,
      fc.integer({ min: 0, max: 50 }),
      (past, executed, seed) => {
        const learned = learnedFrom(past.map((each, i) => tinyRun(i, each)));
        const answers = predictNext(learned, tinyIntent(seed), executed.map(tinyTool), SIZE + 1);
        const scores = answers.map(({ score }) => score);
        for (const score of scores) expect(score).toSatisfy((value: number) => value >= 0 && value <= 1);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(scores.reduce((sum, score) => sum + score, 0)).toBeCloseTo(1, 6);
      },
    ),
    { numRuns: proofRuns(100), seed: proofSeed() },
  );
});
