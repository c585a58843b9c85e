import { expect, test } from 'vitest';
import { kindsOfWork } from '../../../../test/support/kinds-of-work.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { Candidates } from './candidates.ts';
import { learnRanker } from './learn-ranker.ts';
import { lookIntoModel } from './model-insight.ts';

function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

test('[DASH-73] a model is described by what its features and heads contributed to the correct tools', () => {
  const work = kindsOfWork();
  const runs = work.runs(60).map((run, i) => ({ ...run, isPrivate: i % 2 === 0 }));
  const candidates = new Candidates(work.tools, [], work.dimension);
  const { ranker } = finished(learnRanker({ candidates, runs, multiplier: new WasmMultiplier(), seed: 1 }));
  const { runs: looked, features, heads } = finished(lookIntoModel(ranker));

  expect(looked).toBe(40);
  // The text says nothing about the tools: only past runs can raise the correct ones.
  const fromRuns = features.filter(({ name }) => /votes|user/.test(name));
  const sum = (parts: typeof features) => parts.reduce((total, { moved }) => total + moved, 0);
  expect(sum(fromRuns)).toBeGreaterThan(0);
  expect(features.map(({ importance }) => importance)).toEqual(
    features.map(({ importance }) => importance).toSorted((a, b) => b - a),
  );
  expect(heads.map(({ name }) => name)).toEqual(
    Array.from({ length: heads.length }, (_, i) => `head_${i + 1}`),
  );
  const shown = new Set(
    [...features, ...heads].flatMap(({ examples }) => examples.map(({ intent }) => intent)),
  );
  expect(shown.size).toBeGreaterThan(0);
  for (const { text, isPrivate } of runs) if (isPrivate) expect(shown).not.toContain(text);
});
