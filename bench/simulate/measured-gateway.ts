/**
 * A separate process: opens a gateway on a store, reports what that costs, and ends. Its arguments say what to measure
 * and on which store, as JSON.
 */
import { loadSettings } from '../../src/adapters/config/load-settings.ts';
import { WorkerTrainer } from '../../src/adapters/training/worker-trainer.ts';
import { openGateway } from '../../src/compose/open-gateway.ts';
import { CLOCK, sleep } from '../../src/compose/start-gateway-process.ts';
import { WasmVectorIndex } from '../../src/core/retrieval/wasm-vector-index.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import { traceToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { readCatalogue } from '../../src/engine/catalogue/catalogue.ts';
import { createProgramCache } from '../../src/engine/code/program.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { openLiveGraph } from '../../src/engine/graph/live-graph.ts';
import { learnableRun } from '../../src/engine/learning/learnable-run.ts';
import { toolEntries } from '../../src/engine/learning/plan-memory.ts';
import type { Settings } from '../../src/engine/ports.ts';
import { createEventLog } from '../../src/engine/traces/event-log.ts';
import { importTraces } from '../../src/engine/traces/import-traces.ts';
import { type MadeUpTeam, madeUpTeam } from './made-up-team.ts';
export interface GatewayJob {
  readonly dir: string;
  readonly config: string;
  readonly model: string;
  readonly dimension: number;
  readonly tools: number;
  readonly traces: number;
}

export interface Times {
  readonly p50: number;
  readonly p95: number;
  /** Mean CPU time, over all threads of the process. */
  readonly cpu: number;
}

/** Times are in milliseconds. */
export interface StartFigures {
  /** From opening the gateway to the first answered search; modules are loaded before. */
  readonly startMs: number;
  /** CPU time of all threads in that period, including background work. */
  readonly startCpuMs: number;
}

export interface SearchFigures {
  readonly search: Times;
  /** The computation of `/api/stats`. */
  readonly stats: Times;
  /** The newest runs of a tool that hardly any run used. */
  readonly rareRuns: Times;
  readonly residentBytes: number;
  /** Traces per second, stored and added to the graph. */
  readonly ingest: number;
}

export interface SettledFigures {
  /** CPU time until everything that a start recalls and learns in the background is done. */
  readonly settledCpuMs: number;
}

export interface LearnedFigures extends SettledFigures {
  readonly suggest: Times;
  readonly trainStep: Times;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

const DEFAULTS = {
  warmUp: 5,
  questions: 40,
  trainSteps: 12,
  ingest: 2_000,
  lookUps: 20,
  listed: 50,
};

/** The measurements of this process, by name. */
const MEASURES = {
  start: measureStart,
  settled: measureSettled,
  search: measureSearch,
  learned: measureLearned,
};

export type Measure = keyof typeof MEASURES;
export type FiguresOf<M extends Measure> = Awaited<ReturnType<(typeof MEASURES)[M]>>;

async function measureStart(job: GatewayJob): Promise<StartFigures> {
  const settings = await settingsOf(job);
  const opened = { at: performance.now(), cpu: cpuMs() };
  const gateway = await open(job, settings, true);
  const hits = await gateway.searchTools({ query: 'list the open tickets' });
  const figures = { startMs: performance.now() - opened.at, startCpuMs: cpuMs() - opened.cpu };
  if (hits.length === 0) throw new Error('Search found nothing');
  await gateway.close();
  return figures;
}

/** In a gateway that only recalls what search needs, so that nothing else runs meanwhile. */
async function measureSearch(job: GatewayJob): Promise<SearchFigures> {
  const gateway = await open(job, await settingsOf(job), false);
  const team = madeUpTeam(job);
  let asked = 0;
  const search = await times(DEFAULTS.questions, async () => {
    const [hit] = await gateway.searchTools({ query: team.question(asked++) });
    if (hit?.parts.learned === undefined) throw new Error('The learned ranker did not rank');
  });
  const residentBytes = process.memoryUsage.rss();
  const stats = await times(DEFAULTS.lookUps, () => gateway.stats());
  const node = rareTool(team, job.traces);
  const rareRuns = await times(DEFAULTS.lookUps, async () => {
    const found = await gateway.store.traces.list({ node, limit: DEFAULTS.listed });
    if (found.length === 0) throw new Error(`No run of ${node} was found`);
  });
  const ingest = await measureIngest(gateway, team, job);
  await gateway.close();
  return { search, stats, rareRuns, residentBytes, ingest };
}

/** The least popular tool of the oldest runs: a search from the newest run on takes longest for it. */
function rareTool(team: MadeUpTeam, traces: number): string {
  const places = new Map(team.tools.map(({ id }, place) => [id as string, place]));
  const oldest = Array.from({ length: 100 }, (_, nth) => team.run(nth, traces).trace.executedPath).flat();
  return oldest.reduce((a, b) => ((places.get(a) ?? 0) > (places.get(b) ?? 0) ? a : b));
}

async function measureSettled(job: GatewayJob): Promise<SettledFigures> {
  const { gateway, settledCpuMs } = await openSettled(job, await settingsOf(job));
  await gateway.close();
  return { settledCpuMs };
}

async function openSettled(
  job: GatewayJob,
  settings: Settings,
): Promise<SettledFigures & { readonly gateway: Gateway }> {
  const cpuBefore = cpuMs();
  const gateway = await open(job, settings, true);
  await gateway.settled();
  return { gateway, settledCpuMs: cpuMs() - cpuBefore };
}

/** In a gateway that has learned everything from past runs. */
async function measureLearned(job: GatewayJob): Promise<LearnedFigures> {
  const settings = await settingsOf(job);
  const team = madeUpTeam(job);
  const { gateway, settledCpuMs } = await openSettled(job, settings);
  let asked = 0;
  const suggest = await times(DEFAULTS.questions, () => gateway.suggest(team.question(asked++)));
  const residentBytes = process.memoryUsage.rss();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const trainStep = await measureTraining(gateway, settings, job);
  await gateway.close();
  return { settledCpuMs, suggest, trainStep, residentBytes, peakBytes };
}

function settingsOf({ config, dir }: GatewayJob): Promise<Settings> {
  return loadSettings({ file: config, env: {}, cwd: dir });
}

function open({ dir }: GatewayJob, settings: Settings, fillIn: boolean): Promise<Gateway> {
  return openGateway(dir, settings, {
    version: 'simulate',
    exporter: null,
    clock: CLOCK,
    sleep,
    events: createEventLog(CLOCK),
    logger: {
      log: (level, message, details) => {
        if (level === 'error' || level === 'warn') console.error(level, message, details ?? '');
      },
    },
    redact: createRedactor([]),
    fillIn,
    onStore: () => {},
    onSecrets: () => {},
    signal: new AbortController().signal,
  });
}

/** One step of the trainer on the gateway's own data, as after each run. */
async function measureTraining({ store }: Gateway, settings: Settings, job: GatewayJob): Promise<Times> {
  const { model, dimension } = job;
  const trainer = new WorkerTrainer({ embedding: model, dimension, seed: 1 });
  const catalogue = await readCatalogue(store, settings, model, () => new WasmVectorIndex(dimension));
  const runs = (await store.traces.recall(model, 5_000)).flatMap((run) => learnableRun(run) ?? []);
  const [params] = await store.rankerParams.list(model, 1);
  await trainer.offer(toolEntries(catalogue), []);
  await trainer.recall(runs);
  await trainer.load(params!.bytes);
  let nth = 0;
  try {
    return await times(DEFAULTS.trainSteps, () => trainer.take(runs[nth++ % runs.length]!));
  } finally {
    await trainer.close();
  }
}

/** Imports traces like `pml trace import`: checked, redacted, derived, stored, then added to the graph. */
async function measureIngest(gateway: Gateway, team: MadeUpTeam, { traces }: GatewayJob): Promise<number> {
  const lines = Array.from({ length: DEFAULTS.ingest }, (_, i) => ({
    number: i + 1,
    text: JSON.stringify(traceToWire(team.run(traces + i, traces + DEFAULTS.ingest).trace)),
  }));
  const { store, events } = gateway;
  const graph = await openLiveGraph({
    ports: { store, events },
    programs: createProgramCache(),
    templates: [],
  });
  const startedAt = performance.now();
  const { imported } = await importTraces({ store, secrets: [] }, each(lines));
  await graph.catchUp();
  if (imported !== DEFAULTS.ingest) throw new Error(`${imported} traces of ${DEFAULTS.ingest} were taken in`);
  return DEFAULTS.ingest / ((performance.now() - startedAt) / 1000);
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function times(count: number, work: () => Promise<unknown>): Promise<Times> {
  for (let i = 0; i < DEFAULTS.warmUp; i++) await work();
  const cpuBefore = cpuMs();
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now();
    await work();
    took.push(performance.now() - startedAt);
  }
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(count - 1, Math.floor(share * count))]!;
  return { p50: at(0.5), p95: at(0.95), cpu: (cpuMs() - cpuBefore) / count };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

if (process.send) {
  const [measure, job] = process.argv.slice(2);
  const figures = await MEASURES[measure as Measure](JSON.parse(job!) as GatewayJob);
  process.send(figures, () => process.exit());
}
