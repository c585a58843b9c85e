/**
 * Costs of the ranker: to score all candidates for one intent, for a training step, in memory, and how much a training
 * in its worker delays the serving thread. Tools, capabilities and runs are made up by a seeded generator
 * (`support/made-up-work.ts`); no data folder is needed.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkerTrainer } from '../src/adapters/training/worker-trainer.ts';
import { Adam } from '../src/core/learning/optim/adam.ts';
import { Candidates, type IntentForms } from '../src/core/learning/ranker/candidates.ts';
import { Familiarity } from '../src/core/learning/ranker/familiarity.ts';
import { type LearningProgress, rememberRuns } from '../src/core/learning/ranker/learn-ranker.ts';
import { encodeParams } from '../src/core/learning/ranker/params-file.ts';
import type { PastRuns } from '../src/core/learning/ranker/past-runs.ts';
import { createRankModel, type RankModel } from '../src/core/learning/ranker/rank-model.ts';
import { Ranker } from '../src/core/learning/ranker/ranker.ts';
import { exampleOf, learnFrom, type TrainingExample } from '../src/core/learning/ranker/train-ranker.ts';
import { WasmMultiplier } from '../src/core/numeric/kernels.ts';
import { dot, type Floats, type Multiplier, PlainMultiplier } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { PmlError } from '../src/core/vocabulary/pml-error.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { type MadeUpWork, madeUpWork } from './support/made-up-work.ts';
import { percentile } from './support/percentile.ts';

const TOOLS = 538;
const CAPABILITIES = 333;
const RUNS = 2_000;
const FEW_RUNS = 300;
const BATCH = 32;
/** Number of traces while memory is measured, and their batch size. */
const TRACES = 50_000;
const TOLD_AT_ONCE = 500;
const INTENTS = 200;
const STEPS = 15;
const MEGABYTE = 2 ** 20;

export async function bench(): Promise<BenchReport> {
  // First, because memory freed by other measurements would be reused without being seen.
  const memory = await memoryRows(madeUpWork({ tools: TOOLS, capabilities: CAPABILITIES }));
  const work = madeUpWork({ tools: TOOLS, capabilities: CAPABILITIES });
  const candidates = new Candidates(work.tools, work.capabilities, work.dimension);
  const runs = work.runs(RUNS);
  const many = rememberRuns(candidates, runs);
  const few = rememberRuns(candidates, runs.slice(-FEW_RUNS));
  const examples = many.runs
    .slice(0, 2 * BATCH)
    .map((run, i) => exampleOf(run, many.weights[i]!, candidates, many));
  const intents = work.runs(INTENTS);
  const measure = (multiplier: Multiplier<Floats>): Times => {
    const model = createRankModel(multiplier, work.dimension, createRandom(1));
    const step = stepTimes(model, candidates, examples);
    const [scoreMany, scoreFew] = [many, few].map((past) => {
      const ranker = new Ranker(candidates, past, model, new Familiarity(-1, -1, 0));
      return timesOf(intents, (intent) => ranker.rank(intent));
    });
    return { model, step, scoreMany: scoreMany!, scoreFew: scoreFew! };
  };
  // In sequence: serving only uses the kernels, and code that sees both precisions is not optimised for either.
  const wasm = measure(new WasmMultiplier());
  const plain = measure(new PlainMultiplier());
  return {
    name: 'learning',
    rows: [
      ...scoringRows(many, wasm.scoreMany, plain.scoreMany),
      ...scoringRows(few, wasm.scoreFew, plain.scoreFew),
      productsRow(candidates, many, intents.slice(0, 20)),
      ...stepRows(wasm.step, plain.step),
      ...sizeRows(wasm.model, work),
      ...(await lagRows(work)),
      ...memory,
    ],
  };
}

/** Milliseconds with one multiplier. */
interface Times {
  readonly model: RankModel;
  readonly step: readonly number[];
  readonly scoreMany: readonly number[];
  readonly scoreFew: readonly number[];
}

function scoringRows(past: PastRuns, wasm: readonly number[], plain: readonly number[]): BenchRow[] {
  const p50 = percentile(wasm, 0.5);
  const runs = past.runs.length.toLocaleString('en');
  const what = `score ${TOOLS} tools + ${CAPABILITIES} capabilities, ${runs} past runs`;
  const ratio = percentile(plain, 0.5) / p50;
  return [
    { label: `${what}, p50; ratio: model in plain JS`, value: p50, unit: 'ms', ratio, goal: '<= 4 ms' },
    { label: `${what}, p95`, value: percentile(wasm, 0.95), unit: 'ms' },
    { label: `${what}, fastest`, value: percentile(wasm, 0), unit: 'ms' },
  ];
}

/** Dot products of the intent and its clauses with candidates, past intents and their clauses: the cost of features. */
function productsRow(candidates: Candidates, past: PastRuns, intents: readonly IntentForms[]): BenchRow {
  const rows = (vectors: Floats, dimension: number) =>
    Array.from({ length: vectors.length / dimension }, (_, i) =>
      vectors.subarray(i * dimension, (i + 1) * dimension),
    ) as Float32Array[];
  const described = rows(candidates.vectors.values, candidates.vectors.columns);
  const wholes = past.runs.map(({ intent }) => intent);
  const parts = past.runs.flatMap(({ clauses }) => clauses);
  const dots = (query: Float32Array, others: readonly Float32Array[]) =>
    Float32Array.from(others, (other) => dot(query, other));
  const wasm = timesOf(intents, ({ intent, clauses }) => {
    for (const each of [intent, ...clauses]) candidates.cosines(each);
    past.cosines(intent);
    past.clauseUsers(clauses);
  });
  const plain = timesOf(intents, ({ intent, clauses }) => {
    for (const each of [intent, ...clauses]) dots(each, described);
    dots(intent, wholes);
    for (const clause of clauses) dots(clause, parts);
  });
  const value = percentile(wasm, 0.5);
  const ratio = percentile(plain, 0.5) / value;
  const runs = past.runs.length.toLocaleString('en');
  return { label: `its dot products alone, ${runs} past runs; ratio: plain JS`, value, unit: 'ms', ratio };
}

function stepTimes(
  model: RankModel,
  candidates: Candidates,
  examples: readonly TrainingExample[],
): readonly number[] {
  const adam = new Adam(model.parameters, 0.01);
  const steps = Array.from({ length: STEPS }, (_, i) => i);
  return timesOf(steps, (step) => {
    const first = (step % 2) * BATCH;
    learnFrom(model, candidates, examples.slice(first, first + BATCH), createRandom(step));
    adam.step(1e-3);
  });
}

function stepRows(wasm: readonly number[], plain: readonly number[]): BenchRow[] {
  const p50 = percentile(wasm, 0.5);
  const ratio = percentile(plain, 0.5) / p50;
  const what = `training step, batch ${BATCH} x ${TOOLS + CAPABILITIES} candidates`;
  return [
    { label: `${what}, p50; ratio: plain JS`, value: p50, unit: 'ms', ratio, goal: '<= 40 ms' },
    { label: `${what}, fastest`, value: percentile(wasm, 0), unit: 'ms' },
  ];
}

function sizeRows({ parameters }: RankModel, { dimension }: MadeUpWork): BenchRow[] {
  const count = parameters.reduce((sum, { values }) => sum + values.length, 0);
  const file = encodeParams({ embedding: 'made-up', dimension, runs: RUNS }, parameters);
  return [
    { label: 'parameters', value: count, unit: '', goal: '< 2000000' },
    { label: 'parameters file', value: file.length / MEGABYTE, unit: 'MB', goal: '<= 8 MB' },
  ];
}

/** The main thread sends the runs, then idles while the worker trains, as a gateway without requests does. */
async function lagRows(work: MadeUpWork): Promise<BenchRow[]> {
  const runs = work.runs(RUNS);
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  await sleep(2_000);
  const idle = lag.percentile(99) / 1e6;
  lag.disable();
  lag.reset();
  const trainer = createTrainer(work);
  lag.enable();
  await trainer.offer(work.tools, work.capabilities);
  await trainer.recall(runs);
  await trainUntil(trainer, ({ stage, done }) => stage === 'training' && done >= 100);
  lag.disable();
  await trainer.close();
  const what = `training on ${RUNS.toLocaleString('en')} runs in the worker`;
  return [
    { label: `${what}: event-loop lag, p99`, value: lag.percentile(99) / 1e6, unit: 'ms', goal: '<= 20 ms' },
    { label: `${what}: event-loop lag, greatest`, value: lag.max / 1e6, unit: 'ms' },
    { label: 'the same lag before, idle, p99', value: idle, unit: 'ms' },
  ];
}

/** Traces are generated as they are sent, so that the growth is the trainer's. */
async function memoryRows(work: MadeUpWork): Promise<BenchRow[]> {
  const before = process.memoryUsage.rss();
  let most = before;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const watch = setInterval(look, 20);
  const trainer = createTrainer(work);
  await trainer.offer(work.tools, work.capabilities);
  for (let told = 0; told < TRACES; told += TOLD_AT_ONCE) {
    await trainer.recall(work.runs(TOLD_AT_ONCE));
  }
  look();
  const told = most;
  // It trains twice, first on the older runs to be judged on the newest. Once the second training has all its examples,
  // nothing more is allocated.
  let isJudged = false;
  await trainUntil(trainer, ({ stage, done }) => {
    isJudged ||= stage === 'judging';
    return isJudged && stage === 'training' && done >= 10;
  });
  clearInterval(watch);
  await trainer.close();
  const what = `memory, ${TRACES.toLocaleString('en')} traces told`;
  return [
    { label: `${what}: growth until told`, value: (told - before) / MEGABYTE, unit: 'MB' },
    { label: `${what}: growth at most, with the training`, value: (most - before) / MEGABYTE, unit: 'MB' },
    { label: 'memory of the process before', value: before / MEGABYTE, unit: 'MB' },
  ];
}

/** Stops when the rest would be more of the same. */
async function trainUntil(
  trainer: WorkerTrainer,
  isEnough: (progress: LearningProgress) => boolean,
): Promise<void> {
  const enough = new AbortController();
  const onProgress = (progress: LearningProgress) => {
    if (isEnough(progress)) enough.abort();
  };
  try {
    await trainer.train({ signal: enough.signal, onProgress });
  } catch (error) {
    if (PmlError.from(error).code !== 'cancelled') throw error;
  }
}

function createTrainer({ dimension }: MadeUpWork): WorkerTrainer {
  return new WorkerTrainer({ embedding: 'made-up', dimension, seed: 1 });
}

/** Milliseconds of each, warm. */
function timesOf<T>(inputs: readonly T[], work: (input: T) => void): readonly number[] {
  for (const input of inputs) work(input);
  return inputs.map((input) => {
    const start = performance.now();
    work(input);
    return performance.now() - start;
  });
}
