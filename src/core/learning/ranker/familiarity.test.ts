import { describe, expect, test } from 'vitest';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import { SHIPPED_TEXT_CHANCES, textChance } from '../../retrieval/text-scores.ts';
import { ranksOf } from '../gate/metrics.ts';
import { Candidates, narrownessOf } from './candidates.ts';
import { Familiarity, learnFamiliarity, UNFAMILIAR } from './familiarity.ts';
import { runQuestion, toolQuestions } from './foreign-questions.ts';
import { judgeLearning, type LearnableRun, learnRanker, rememberRuns } from './learn-ranker.ts';
import { leaveOut } from './leave-out.ts';

const DIMENSION = 32;
const TOOLS = 40;
const random = createRandom(5);

function unit(values: ArrayLike<number>): Float32Array {
  const length = Math.hypot(...Array.from(values));
  return Float32Array.from(values, (value) => value / length);
}

function drawn(from: Random): Float32Array {
  return unit(Array.from({ length: DIMENSION }, () => from.normal()));
}

/** A unit vector about as near to another as intents are to their tools. */
function near(vector: Float32Array, share: number): Float32Array {
  const other = drawn(random);
  return unit(vector.map((value, i) => share * value + (1 - share) * other[i]!));
}

const tools = Array.from({ length: TOOLS }, (_, i) => ({
  id: `server${i % 8}:tool${i}`,
  server: `server${i % 8}`,
  name: `tool${i}`,
  words: [`tool${i}`, `word${i}`, `thing${i}`, `more${i}`],
  vector: drawn(random),
}));
const candidates = new Candidates(tools, [], DIMENSION);

function runOf(tool: number, i: number): LearnableRun {
  const intent = near(tools[tool]!.vector, 0.6);
  const words = [`word${tool}`, `again${i}`];
  return {
    text: words.join(' '),
    intent,
    clauses: [intent],
    words,
    uses: [tools[tool]!.id],
    succeeded: true,
    key: `${i}`,
  };
}

function driven<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

describe('with a past of one job', () => {
  const runs = Array.from({ length: 45 }, (_, i) => runOf(3, i));
  const lesson = { candidates, runs, multiplier: new WasmMultiplier(), seed: 1 };
  const { ranker } = driven(learnRanker(lesson));
  const rankOf = (tool: number) => {
    const query = runOf(tool, 1_000 + tool);
    const { logits, text, familiarity } = ranker.rank(query);
    const place = (scores: ArrayLike<number>) =>
      Array.from(scores).filter((score) => score > scores[tool]!).length;
    return { learned: place(logits), search: place(text.fused), familiarity };
  };

  test('[FAMILIAR-1] queries of its kind are familiar, and others are not', () => {
    expect(rankOf(3).familiarity).toBeGreaterThan(0.5);
    const others = tools.flatMap((_, i) => (i === 3 ? [] : [rankOf(i).familiarity]));
    expect(others.filter((share) => share > 0).length).toBeLessThanOrEqual(2);
  });

  test('[FAMILIAR-2] where nothing learned applies, a never-used tool ranks exactly as in search', () => {
    const foreign = tools.map((_, i) => rankOf(i)).filter(({ familiarity }) => familiarity === 0);
    expect(foreign.length).toBeGreaterThan(30);
    for (const { learned, search } of foreign) expect(learned).toBe(search);
  });

  test('[FAMILIAR-3] the ranker is also judged on foreign questions, and does no harm there', () => {
    const { far } = driven(judgeLearning(lesson));
    expect(far.learned.length).toBe(60);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(far.learned)).toBeGreaterThanOrEqual(mean(far.hybrid) - 0.005);
  });
});

test('[FAMILIAR-1] one outlier among few runs does not make distant queries near', () => {
  const runs = Array.from({ length: 16 }, (_, i) => runOf(i === 7 ? 20 : 3, i));
  const familiarityAfter = (told: readonly LearnableRun[]) =>
    driven(
      learnFamiliarity(candidates, rememberRuns(candidates, told), (query) => candidates.textScores(query)),
    );
  const withoutIt = familiarityAfter(runs.toSpliced(7, 1)).nearest;
  expect(familiarityAfter(runs).nearest).toBeGreaterThan(withoutIt - 0.1);
});

describe('[FAMILIAR-5] however familiar the query', () => {
  const usedTools = new Set([0, 1, 2, 3, 4, 6, 7, 8, 9, 10]);
  const runs = Array.from({ length: 60 }, (_, i) => runOf([...usedTools][i % usedTools.size]!, i));
  const { ranker } = driven(learnRanker({ candidates, runs, multiplier: new WasmMultiplier(), seed: 1 }));
  // Two requests at once, one known and one unknown.
  const rankings = [...usedTools].flatMap((known) =>
    [5, 11, 20].map((other) => {
      const intent = unit(tools[known]!.vector.map((value, i) => value + 1.1 * tools[other]!.vector[i]!));
      const words = [known, other].flatMap((tool) => tools[tool]!.words.slice(1));
      const { logits, text, familiarity } = ranker.rank({
        text: words.join(' '),
        intent,
        clauses: [intent],
        words,
      });
      const gold = tools.map((_, place) => [place]);
      return {
        familiarity,
        fused: text.fused,
        learned: ranksOf(logits, gold),
        search: ranksOf(text.fused, gold),
      };
    }),
  );

  test('a tool of a never-used server ranks at least as high as in search', () => {
    const ofNewServers = tools.flatMap((_, place) => (place % 8 === 5 ? [place] : []));
    for (const { learned, search } of rankings)
      for (const place of ofNewServers) expect(learned[place]).toBeLessThanOrEqual(search[place]!);
    const moved = rankings.filter(({ learned, search }) => learned.some((rank, i) => rank !== search[i]));
    expect(Math.max(...moved.map(({ familiarity }) => familiarity))).toBeGreaterThan(0.5);
  });

  test('so does any never-used tool whose text fits', () => {
    const fitting = rankings.flatMap(({ fused, learned, search }) =>
      tools.flatMap((_, place) => {
        const scores = fused.toSorted((a, b) => b - a);
        const chance = textChance(SHIPPED_TEXT_CHANCES, scores, search[place]! - 1);
        return usedTools.has(place) || chance < 0.35
          ? []
          : [{ learned: learned[place]!, search: search[place]! }];
      }),
    );
    expect(fitting.length).toBeGreaterThan(5);
    for (const { learned, search } of fitting) expect(learned).toBeLessThanOrEqual(search);
  });
});

test('[FAMILIAR-3] questions about tools hide all runs that used them, and are the same for a seed', () => {
  const past = rememberRuns(
    candidates,
    Array.from({ length: 20 }, (_, i) => runOf(i % 4, i)),
  );
  const questions = toolQuestions(TOOLS, candidates, past, createRandom(9));
  expect(new Set(questions.map(({ key }) => key)).size).toBe(TOOLS);
  for (const { right, isHidden } of questions) {
    const hidden = past.uses.map((_, run) => isHidden(run));
    expect(hidden).toEqual(past.uses.map((uses) => uses.includes(right[0]!)));
  }
  const again = toolQuestions(TOOLS, candidates, past, createRandom(9));
  expect(again.map(({ query }) => query)).toEqual(questions.map(({ query }) => query));
  const { right, isHidden } = runQuestion(past.runs[0]!, past);
  expect(past.uses.every((uses, run) => isHidden(run) === uses.includes(right[0]!))).toBe(true);
});

test('[FAMILIAR-1] shares fall to 0 with distance, and survive being stored', () => {
  const usual = new Familiarity(0.6, 2, 0.4, 1);
  const sighting = {
    nearest: 0.7,
    near: 0.75,
    fit: 3,
    isNew: false,
    used: Uint8Array.of(1),
    usedShares: Float64Array.of(1),
    favourite: 0,
  };
  expect(usual.of(sighting)).toBe(1);
  expect(usual.of({ ...sighting, nearest: 0.525 })).toBeCloseTo(0.5);
  expect(usual.of({ ...sighting, nearest: 0.4 })).toBe(0);
  expect(usual.of({ ...sighting, fit: 0.9 })).toBe(0);
  expect(UNFAMILIAR.of({ ...sighting, nearest: 0.1 })).toBe(0);
  expect(Familiarity.from(usual.values).of(sighting)).toBe(1);
  // Where text is usually right, a never-used best match by text decides.
  expect(new Familiarity(0.6, 2, 1, 1).of({ ...sighting, isNew: true })).toBe(0);
});

test('[FAMILIAR-5] text is trusted for never-used tools unless a diverse past shows otherwise', () => {
  expect(new Familiarity(0.6, 2, 0.1, 1).trustInText).toBeGreaterThan(0);
  expect(new Familiarity(0.6, 2, 0.4, 0.1).trustInText).toBe(0);
  expect(new Familiarity(0.6, 2, 0.8, 0.1).trustInText).toBeCloseTo(0.6);
});

test('[FAMILIAR-5] evidence from few runs about text proves less than evidence from many', () => {
  const shareAfter = (count: number) => {
    const past = rememberRuns(
      candidates,
      Array.from({ length: count }, (_, i) => runOf(i % TOOLS, i)),
    );
    return driven(learnFamiliarity(candidates, past, (query) => candidates.textScores(query))).textRight;
  };
  expect(shareAfter(80)).toBeGreaterThan(0.9);
  expect(shareAfter(8)).toBeLessThan(shareAfter(80) - 0.1);
});

test('[FAMILIAR-1] a past of one kind of work is narrow, one of many kinds is not', () => {
  expect(narrownessOf([[1], [1], [1]])).toBe(1);
  expect(narrownessOf(Array.from({ length: 100 }, (_, i) => [i]))).toBeLessThan(0.1);
  expect(narrownessOf([])).toBe(1);
});

test('[PLAN-27] the tools of some servers are left out, and some runs of the others', () => {
  const entries = Array.from({ length: 24 }, (_, i) => ({
    ...{ id: `s${i % 8}:t${i}`, server: `s${i % 8}`, name: `t${i}`, words: [`t${i}`], vector: null },
  }));
  const many = new Candidates(entries, [], 4);
  const runs = Array.from({ length: 96 }, (_, i) => ({ uses: [entries[i % 24]!.id], key: `run ${i}` }));
  const { tools, keys } = leaveOut(runs, many, createRandom(3));
  const servers = new Set(tools.map((id) => id.split(':')[0]!));
  expect(tools).toHaveLength(3 * servers.size);
  const far = runs.filter(({ uses }) => uses.some((id) => tools.includes(id)));
  expect(far.length / runs.length).toBeCloseTo(0.25);
  expect(keys.length).toBe(20);
  expect(far.filter(({ key }) => keys.includes(key))).toEqual([]);
  // A past of a single job has nothing that could be left out.
  const one = runs.map(({ key }) => ({ uses: [entries[0]!.id], key }));
  expect(leaveOut(one, many, createRandom(3)).tools).toEqual([]);
});
