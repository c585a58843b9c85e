import { describe, expect, test } from 'vitest';
import { Candidates, type IntentForms } from '../../learning/ranker/candidates.ts';
import { Familiarity } from '../../learning/ranker/familiarity.ts';
import { rememberRuns } from '../../learning/ranker/learn-ranker.ts';
import type { LeftOut } from '../../learning/ranker/leave-out.ts';
import { RankModel } from '../../learning/ranker/rank-model.ts';
import { Ranker } from '../../learning/ranker/ranker.ts';
import { normalise, PlainMultiplier } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { draftPlan } from './draft-plan.ts';
import { learnPlans, type PlanLesson } from './learn-plans.ts';
import { PlanHistory, type PlannedRun } from './plan-history.ts';
import type { PlanModel } from './plan-model.ts';
import { PlanCalibration } from './plan-record.ts';

const DIMENSION = 16;
/** Six kinds of work, each with tools of its own, done in this order. */
const WORK = [
  [0, 1, 2],
  [3, 4],
  [5, 6, 7],
  [8, 9],
  [10, 11, 12],
  [13, 14],
];
const random = createRandom(7);
const unit = () => normalise(Float32Array.from({ length: DIMENSION }, () => random.normal()));
const TOPICS = WORK.map(unit);

function formsOf(kind: number): IntentForms {
  const noise = unit();
  const intent = normalise(TOPICS[kind]!.map((value, i) => value + 0.3 * noise[i]!));
  return { text: `work ${kind}`, intent, clauses: [intent], words: ['work'] };
}

const tools = Array.from({ length: 15 }, (_, i) => ({
  id: `s:t${i}`,
  server: 's',
  name: `t${i}`,
  words: [`t${i}`],
  vector: normalise(
    TOPICS[WORK.findIndex((uses) => uses.includes(i))]!.map((v) => v + 0.1 * random.normal()),
  ),
}));
const candidates = new Candidates(tools, [], DIMENSION);

function runOf(i: number): PlannedRun {
  const kind = i % WORK.length;
  const uses = WORK[kind]!;
  const edges = uses.slice(1).map((to, k): [number, number] => [uses[k]!, to]);
  return { ...formsOf(kind), uses, edges, key: `run ${i}` };
}

/** Says only what the vectors say, and that not too well. */
const logitsOf = ({ intent }: IntentForms) => candidates.cosines(intent).map((cosine) => 3 * cosine);

function learned(runs: readonly PlannedRun[], leftOut?: LeftOut): PlanModel | null {
  const ranker = new Ranker(
    candidates,
    rememberRuns(candidates, []),
    new RankModel(new PlainMultiplier(), []),
    new Familiarity(-1, -1, 0, 0),
  );
  const lesson: PlanLesson = {
    ranker,
    runs,
    words: tools.map(({ words }) => ({ name: words, parameters: [] })),
    seed: 1,
    logitsOf: (i) => logitsOf(runs[i]!),
    ...(leftOut && { probe: { ranker, leftOut } }),
    // Texts say nothing here.
    textChances: { bias: -5, score: 0, rank: 0, lead: 0 },
  };
  const steps = learnPlans(lesson);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

describe('plans learned from past runs', () => {
  const runs = Array.from({ length: 120 }, (_, i) => runOf(i));

  test('[PLAN-12] new intents get the tools of similar runs, in order, with a confidence', () => {
    const model = learned(runs)!;
    for (const [kind, uses] of WORK.entries()) {
      const query = formsOf(kind);
      const { tools: chosen, edges, confidence } = model.draft(query, logitsOf(query));
      expect(chosen.map(({ place }) => place).sort((a, b) => a - b)).toEqual(uses);
      const told = edges.map(({ from, to }) => [chosen[from]!.place, chosen[to]!.place]);
      expect(told.sort((a, b) => a[0]! - b[0]!)).toEqual(uses.slice(1).map((to, k) => [uses[k], to]));
      expect(confidence).toBeGreaterThan(0.8);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  });

  test('[PLAN-12] the same runs and seed give the same plans', () => {
    const query = formsOf(2);
    const [once, again] = [learned(runs)!, learned(runs)!];
    expect(again.draft(query, logitsOf(query))).toEqual(once.draft(query, logitsOf(query)));
  });

  test('[PLAN-27] plans for left-out work show how good plans are far from past runs', () => {
    const ofOthers = runs.filter(({ uses }) => uses[0] !== 0).slice(0, 25);
    const leftOut = { tools: ['s:t0', 's:t1', 's:t2'], keys: ofOthers.map(({ key }) => key) };
    const { calibration } = learned(runs, leftOut)!.nets;
    const near = calibration!.at({ expected: 0.8, nearest: 0.9, unused: 0, missed: 0 });
    const far = calibration!.at({ expected: 0.8, nearest: 0.2, unused: 0.6, missed: 0.6 });
    expect(far).toBeLessThan(near - 0.3);
    expect(learned(runs)!.nets.calibration).toBeNull();
  });

  test('[PLAN-27] a single unused tool among those that fit best leaves a plan half of its own estimate', () => {
    const { history, texts, nets } = learned(runs.filter(({ uses }) => uses[0]! < 10))!;
    const aside = unit();
    const intent = normalise(TOPICS[0]!.map((value, i) => value + 1.5 * aside[i]!));
    const query = { ...formsOf(0), text: 'something like it', intent, clauses: [intent] };
    const confidenceWith = (level: number, ...fitting: number[]) => {
      const fused = new Float64Array(candidates.size);
      for (const [rank, place] of fitting.entries()) fused[place] = 0.6 - 0.1 * rank;
      const logits = logitsOf(query);
      const text = { fused, whole: fused, lexical: fused };
      const ranking = { text, logits, learned: logits, familiarity: 1, nearness: 1, news: [] };
      const ranker = { rank: () => ranking, familiarity: new Familiarity(0.5, 0, 1) } as unknown as Ranker;
      const past = { candidates, history, texts, ranker, trustIn: () => 0.8 };
      const calibration = new PlanCalibration([level, 0, 0, 0, 0]);
      return draftPlan({ ...past, nets: { ...nets, calibration } }, query).confidence;
    };
    const [worthless, poor] = [-20, -3];
    expect(confidenceWith(worthless, 0, 1, 2, 13, 14)).toBeCloseTo(0);
    const worth = confidenceWith(poor, 0, 1, 2, 13, 14);
    expect(worth).toBeCloseTo(1 / (1 + Math.exp(3)));
    const half = confidenceWith(worthless, 0, 1, 2, 3, 13);
    expect(half).toBeGreaterThan(0.3);
    expect(confidenceWith(poor, 0, 1, 2, 3, 13)).toBeCloseTo(half + worth / 2);
    expect(confidenceWith(poor, 0, 1, 2, 3, 4)).toBe(confidenceWith(worthless, 0, 1, 2, 3, 4));
  });

  test('[PLAN-12] too few runs teach nothing', () => {
    expect(learned(runs.slice(0, 10))).toBeNull();
  });

  test('[PLAN-12] leaving a run out removes everything that it contributed', () => {
    const history = new PlanHistory(runs.slice(0, 12), 15, DIMENSION);
    const all = history.without(null);
    const others = history.without('run 0');
    expect([all.pair('edges', 0, 1), others.pair('edges', 0, 1)]).toEqual([2, 1]);
    expect([all.sum('used', 0), others.sum('used', 0)]).toEqual([2, 1]);
    expect([all.pair('before', 0, 2), others.pair('before', 0, 2)]).toEqual([2, 1]);
    expect([all.isHidden(0), others.isHidden(0), others.isHidden(6)]).toEqual([false, true, false]);
    expect([all.runs, others.runs]).toEqual([12, 11]);
  });
});
