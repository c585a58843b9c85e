import type { Probe } from '../../learning/ranker/learn-ranker.ts';
import type { Ranker } from '../../learning/ranker/ranker.ts';
import { exampleOf } from '../../learning/ranker/train-ranker.ts';
import type { Floats } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { SearchWeights, TextChances } from '../../retrieval/text-scores.ts';
import { draftWithSigns } from './draft-plan.ts';
import { createEdgeTexts, EDGE_WIDTH, edgeFeatures, type ToolWords } from './edge-features.ts';
import {
  GUESS_WIDTH,
  guessFeatures,
  MEMBERSHIP_WIDTH,
  membershipFeatures,
  type Shortlist,
  shortlistOf,
} from './membership-features.ts';
import { type OrderForm, orderSet } from './order-set.ts';
import { type HistoryView, PlanHistory, type PlannedRun } from './plan-history.ts';
import { type Choice, chancesOf, chooseSet, logitOf, orderChance, PlanModel } from './plan-model.ts';
import { type JudgedPlan, PlanCalibration, type PlanWorth } from './plan-record.ts';
import { type LabelledRows, SmallNet } from './small-net.ts';
import { replayPlans } from './unlearned-plans.ts';

const DEFAULTS = {
  /** Runs below which nothing is learned: past runs are copied instead. */
  leastRuns: 30,
  /** Runs below which no hidden layer is trained. */
  manyRuns: 100,
  /** Runs that are learned from at the most, by lot. */
  mostRuns: 2_500,
  hidden: 24,
  /** Share of runs with, or without, an order below which all are taken to be alike in that. */
  leastUnordered: 0.02,
  /** Runs by which it is decided whether plans are made as chains. */
  orderCases: 1_000,
  /** Runs of each kind that were left out and are asked about, by lot. */
  asked: 150,
  /** Trust in work that was done once, as plans have it. */
  trust: 0.8,
};

export interface PlanLesson {
  /** That learned from these runs, and whose candidates their places are. */
  readonly ranker: Ranker;
  readonly runs: readonly PlannedRun[];
  /** Of each candidate, by place. */
  readonly words: readonly ToolWords[];
  readonly seed: number;
  readonly weights?: SearchWeights;
  readonly textChances?: TextChances;
  /** What plans are worth in other catalogues; the shipped figures if absent. */
  readonly planWorth?: PlanWorth;
  /** A ranker that has not seen all of the runs; absent: the confidence of plans is not checked. */
  readonly probe?: Probe | null;
  /** Stands in for the ranker's logits of a run whose like is hidden, where these are known already. */
  readonly logitsOf?: (run: number) => Floats;
}

/** A run as if it and its like had not been seen, ready to be learned from. */
interface Case {
  readonly run: PlannedRun;
  readonly shortlist: Shortlist;
  /** Whether each of the shortlist was used. */
  readonly labels: Float32Array;
}

/** Learns plans, and by what the probe says of runs that it has not seen, what plans are worth. */
export function* learnPlans(lesson: PlanLesson): Generator<void, PlanModel | null> {
  const model = yield* learnNets(lesson);
  if (!model || !lesson.probe) return model;
  const calibration = yield* calibrate(lesson, lesson.probe);
  return new PlanModel(model.history, model.texts, { ...model.nets, calibration });
}

/** Null where what was left out is too little, or what is left. */
function* calibrate(lesson: PlanLesson, { ranker, leftOut }: Probe): Generator<void, PlanCalibration | null> {
  const { candidates } = ranker;
  const { words, seed, weights, textChances } = lesson;
  const tools = new Set(candidates.placesOf(leftOut.tools));
  const keys = new Set(leftOut.keys);
  const kindOf = ({ uses, key }: PlannedRun) =>
    uses.some((place) => tools.has(place)) ? 'far' : keys.has(key) ? 'near' : 'known';
  const { known = [], near = [], far = [] } = Object.groupBy(lesson.runs, kindOf);
  const model = yield* learnNets({ ranker, runs: known, words, seed, ...(weights && { weights }) });
  if (!model) return null;
  const { history, texts, nets } = model;
  const chances = { ...(textChances && { textChances }) };
  const past = {
    ...{ candidates, history, texts, ranker, nets, record: replayPlans({ candidates, history, ...chances }) },
    trustIn: () => DEFAULTS.trust,
    ...chances,
  };
  const random = createRandom(seed);
  const asked = [near, far].flatMap((runs) => random.shuffle([...runs]).slice(0, DEFAULTS.asked));
  const judged = yield* forEach(asked, (run): JudgedPlan[] => {
    const { plan, signs } = draftWithSigns(past, run);
    if (!signs) return [];
    return [{ ...signs, f1: f1Of({ chosen: plan.tools }, run), isFar: kindOf(run) === 'far' }];
  });
  return PlanCalibration.fit(judged.flat(), lesson.planWorth);
}

/**
 * Learns which candidates belong together and what waits for what. A generator, so that its caller
 * can let others run in between, or stop. Null where there are too few runs.
 *
 * The ranker has seen these runs (their features hide them, its weights do not), which was measured to do
 * plans no harm; the sets that edges are learned from come from nets that have not seen them.
 */
function* learnNets(lesson: PlanLesson): Generator<void, PlanModel | null> {
  const { ranker, runs, seed } = lesson;
  if (runs.length < DEFAULTS.leastRuns) return null;
  const random = createRandom(seed);
  const { candidates } = ranker;
  const history = new PlanHistory(runs, candidates.size, candidates.vectors.columns);
  const texts = createEdgeTexts(candidates, lesson.words);
  const hidden = runs.length < DEFAULTS.manyRuns ? 0 : DEFAULTS.hidden;
  const cases = yield* casesOf(lesson, random);
  // Made each time they are asked for: kept for all cases they would fill the memory.
  const past = ({ run }: Case): [cosines: Float32Array, view: HistoryView] => [
    history.cosines(run.intent),
    history.without(run.key),
  ];

  const guess = yield* SmallNet.learn(
    labelled(
      GUESS_WIDTH,
      cases.map(({ shortlist }) => guessFeatures(shortlist)),
      cases.map(({ labels }) => labels),
    ),
    { random, hidden: 0 },
  );
  const halves = halvesOf(cases, random);
  const ordered = yield* learnOrdered(cases, random);
  const orderedOf = yield* unseenOrdered(cases, halves, random);
  const rows = yield* forEach(cases, (one, i) => {
    const guesses = chancesOf(guess, guessFeatures(one.shortlist), GUESS_WIDTH);
    return membershipFeatures(one.shortlist, guesses, orderedOf[i]!, ...past(one));
  });
  const learnMembership = (from: readonly number[]) =>
    SmallNet.learn(
      labelled(
        MEMBERSHIP_WIDTH,
        from.map((i) => rows[i]!),
        from.map((i) => cases[i]!.labels),
      ),
      { random, hidden },
    );
  const choices = new Map<number, Choice>();
  const membership = [yield* learnMembership([...cases.keys()])];
  for (const [k, half] of halves.entries()) {
    const net = yield* learnMembership(halves[1 - k]!);
    membership.push(net);
    for (const i of half) {
      const chances = chancesOf(net, rows[i]!, MEMBERSHIP_WIDTH);
      choices.set(i, chooseSet(cases[i]!.shortlist, chances));
      yield;
    }
  }

  const confidence = yield* learnConfidence(cases, choices, createRandom(seed));

  // Where nothing waits for anything, no order can be learned: the intent tells that.
  const inOrder = [...cases.keys()].filter((i) => cases[i]!.run.edges.length > 0);
  const features = yield* forEach(inOrder, (i) => {
    const one = cases[i]!;
    const { run, shortlist } = one;
    const set = { tools: choices.get(i)!.chosen, logits: shortlist.logits };
    return edgeFeatures(run, set, texts, ...past(one));
  });
  const pairs = inOrder.map((i, k) => pairsOf(cases[i]!.run, choices.get(i)!.chosen, features[k]!));
  const edges = yield* SmallNet.learn(
    labelled(
      EDGE_WIDTH,
      pairs.map(([values]) => values),
      pairs.map(([, labels]) => labels),
    ),
    { random, hidden },
  );
  const form = betterForm(
    yield* forEach(inOrder.slice(0, DEFAULTS.orderCases), (i, k) => ({
      run: cases[i]!.run,
      tools: choices.get(i)!.chosen,
      chances: chancesOf(edges, features[k]!, EDGE_WIDTH),
    })),
  );
  return new PlanModel(history, texts, {
    ...{ ordered, guess, membership, confidence, edges, form },
    calibration: null,
  });
}

function* casesOf({ ranker, runs, weights, logitsOf }: PlanLesson, random: Random): Generator<void, Case[]> {
  const { candidates, past, model } = ranker;
  const learned = random.shuffle([...runs.keys()]).slice(0, DEFAULTS.mostRuns);
  const cases: Case[] = [];
  for (const i of learned) {
    const run = runs[i]!;
    const logits =
      logitsOf?.(i) ??
      model.forward({ candidates, examples: [exampleOf(run, 1, candidates, past, { weights })] })[0]!;
    // Plans are made of tools; capabilities come in where they cover some of them.
    const shortlist = shortlistOf(logits.subarray(0, candidates.tools));
    const uses = new Set(run.uses);
    cases.push({
      run,
      shortlist,
      labels: Float32Array.from(shortlist.places, (place) => (uses.has(place) ? 1 : 0)),
    });
    yield;
  }
  return cases;
}

/** Pauses after each. */
function* forEach<T, R>(items: readonly T[], work: (item: T, i: number) => R): Generator<void, R[]> {
  const results: R[] = [];
  for (const [i, item] of items.entries()) {
    results.push(work(item, i));
    yield;
  }
  return results;
}

/** What comes of what sets expect of themselves (Platt, 1999), by sets of nets that had not seen the run. */
function* learnConfidence(
  cases: readonly Case[],
  choices: ReadonlyMap<number, Choice>,
  random: Random,
): Generator<void, SmallNet> {
  const values = Float32Array.from(cases.keys(), (i) => logitOf(choices.get(i)!.expectedF1));
  const labels = Float32Array.from(cases, ({ run }, i) => f1Of(choices.get(i)!, run));
  return yield* SmallNet.learn({ width: 1, values, labels }, { random, hidden: 0 });
}

/** What is used again counts once. */
function f1Of({ chosen }: Pick<Choice, 'chosen'>, { uses }: PlannedRun): number {
  const [made, right] = [new Set(chosen.map(({ place }) => place)), new Set(uses)];
  return (2 * made.intersection(right).size) / (made.size + right.size);
}

/** Runs of one key fall into one half. */
function halvesOf(cases: readonly Case[], random: Random): [number[], number[]] {
  const keys = random.shuffle([...new Set(cases.map(({ run }) => run.key))]);
  const first = new Set(keys.slice(0, keys.length / 2));
  const places = [...cases.keys()];
  const isFirst = (i: number) => first.has(cases[i]!.run.key);
  return [places.filter(isFirst), places.filter((i) => !isFirst(i))];
}

/** All pairs of two different tools, and whether the run had them as an edge. */
function pairsOf(
  { edges }: PlannedRun,
  tools: Choice['chosen'],
  features: Float32Array,
): [rows: Float32Array, labels: Float32Array] {
  const n = tools.length;
  const rows = new Float32Array(n * (n - 1) * EDGE_WIDTH);
  const labels = new Float32Array(n * (n - 1));
  let at = 0;
  for (const [i, from] of tools.entries()) {
    for (const [j, to] of tools.entries()) {
      if (i === j) continue;
      const start = (i * n + j) * EDGE_WIDTH;
      rows.set(features.subarray(start, start + EDGE_WIDTH), at * EDGE_WIDTH);
      labels[at++] = edges.some(([a, b]) => a === from.place && b === to.place) ? 1 : 0;
    }
  }
  return [rows, labels];
}

function labelled(
  width: number,
  rows: readonly Float32Array[],
  labels: readonly Float32Array[],
): LabelledRows {
  return { width, values: joined(rows), labels: joined(labels) };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Whether the tools of a run have an order, from its intent; the share of such runs where that never varies. */
function* learnOrdered(cases: readonly Case[], random: Random): Generator<void, SmallNet | number> {
  const labels = Float32Array.from(cases, ({ run }) => (run.edges.length > 0 ? 1 : 0));
  const share = labels.reduce((sum, label) => sum + label, 0) / (labels.length || 1);
  if (Math.min(share, 1 - share) < DEFAULTS.leastUnordered) return share;
  const values = joined(cases.map(({ run }) => run.intent));
  return yield* SmallNet.learn({ width: cases[0]!.run.intent.length, values, labels }, { random, hidden: 0 });
}

/** The same for each case by what those of the other half say. */
function* unseenOrdered(
  cases: readonly Case[],
  halves: readonly number[][],
  random: Random,
): Generator<void, number[]> {
  const chances = new Array<number>(cases.length);
  for (const [k, half] of halves.entries()) {
    const ordered = yield* learnOrdered(
      halves[1 - k]!.map((i) => cases[i]!),
      random,
    );
    for (const i of half) chances[i] = orderChance(ordered, cases[i]!.run.intent);
  }
  return chances;
}

/** An ordered run, the tools chosen for it, and the chance of an edge between each two. */
interface OrderCase {
  readonly run: PlannedRun;
  readonly tools: Choice['chosen'];
  readonly chances: readonly number[];
}

/** The way of ordering that comes nearer to what the runs did. */
function betterForm(cases: readonly OrderCase[]): OrderForm {
  const right = (form: OrderForm) =>
    cases.reduce((sum, { run, tools, chances }) => {
      const { edges, again } = orderSet(chances, tools.length, form);
      const made = [...edges, ...again];
      const hits = made.filter(({ from, to }) =>
        run.edges.some(([a, b]) => a === tools[from]!.place && b === tools[to]!.place),
      );
      return sum + (2 * hits.length) / (made.length + run.edges.length);
    }, 0);
  return right('chain') >= right('graph') ? 'chain' : 'graph';
}
