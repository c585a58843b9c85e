/**
 * A process of its own: opens a gateway on a store, answers with what that costs, and ends. What it shall do is in its
 * only argument, as JSON.
 */
import { loadSettings } from '../../src/adapters/config/load-settings.ts';
import { WasmVectorIndex } from '../../src/adapters/embedding/wasm-vector-index.ts';
import { WorkerTrainer } from '../../src/adapters/training/worker-trainer.ts';
import { openGateway } from '../../src/compose/open-gateway.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import { traceToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { readCatalogue } from '../../src/engine/catalogue.ts';
import { createProgramCache } from '../../src/engine/code/program-cache.ts';
import { createEventLog } from '../../src/engine/event-log.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { openLiveGraph } from '../../src/engine/graph/live-graph.ts';
import { importTraces } from '../../src/engine/import-traces.ts';
import { learnableRun } from '../../src/engine/learning/learnable-run.ts';
import { toolEntries } from '../../src/engine/learning/ranked-candidates.ts';
import type { Clock, Settings } from '../../src/engine/ports.ts';
import { type MadeUpTeam, madeUpTeam } from './made-up-team.ts';

/** What is measured, beside the start: everything, or nothing more. */
export interface GatewayJob {
  readonly dir: string;
  readonly config: string;
  readonly model: string;
  readonly dimension: number;
  readonly tools: number;
  readonly traces: number;
  readonly what: 'start' | 'all';
}

export interface Times {
  readonly p50: number;
  readonly p95: number;
  /** Of the processor, all threads of the process, in the mean. */
  readonly cpu: number;
}

export interface GatewayFigures {
  /** Milliseconds from opening the gateway to the first answered search; modules are loaded before. */
  readonly startMs: number;
  /** Of the processor in that time, by all threads: what is done in the background meanwhile is in it. */
  readonly startCpuMs: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** Absent after a mere start. */
  readonly work?: {
    /** Of the processor, until all was recalled and learned that a start recalls and learns in the background. */
    readonly settledCpuMs: number;
    /** All in milliseconds. */
    readonly search: Times;
    readonly suggest: Times;
    readonly trainStep: Times;
    /** Traces per second, stored and in the graph. */
    readonly ingest: number;
  };
}

const DEFAULTS = {
  warmUp: 5,
  questions: 40,
  trainSteps: 12,
  ingest: 2_000,
};

const CLOCK: Clock = { now: () => new Date(), monotonic: () => performance.now() };

async function measure(job: GatewayJob): Promise<GatewayFigures> {
  const team = madeUpTeam(job);
  const settings = await loadSettings({ file: job.config, env: {}, cwd: job.dir });
  const opened = { at: performance.now(), cpu: cpuMs() };
  const gateway = await openGateway(job.dir, settings, {
    version: 'simulate',
    exporter: null,
    clock: CLOCK,
    events: createEventLog(CLOCK),
    logger: {
      log: (level, message, details) => {
        if (level === 'error' || level === 'warn') console.error(level, message, details ?? '');
      },
    },
    redact: createRedactor([]),
    fillIn: true,
    onStore: () => {},
    onSecrets: () => {},
  });
  const first = await gateway.searchTools({ query: 'list the open tickets' });
  if (first.length === 0) throw new Error('Search found nothing');
  const startMs = performance.now() - opened.at;
  const startCpuMs = cpuMs() - opened.cpu;
  console.error('started', startMs, startCpuMs);
  const start = { startMs, startCpuMs };
  if (job.what === 'start') return await ended(gateway, { ...start, ...memory() });
  await gateway.settled();
  const settledCpuMs = cpuMs() - opened.cpu;
  console.error('settled', settledCpuMs);

  let asked = 0;
  const search = await times(DEFAULTS.questions, async () => {
    const [hit] = await gateway.searchTools({ query: team.question(asked++), explain: false });
    if (hit?.parts.learned === undefined) throw new Error('What was learned did not rank');
  });
  console.error('search', JSON.stringify(search));
  const suggest = await times(DEFAULTS.questions, () => gateway.suggest(team.question(asked++)));
  console.error('suggest', JSON.stringify(suggest));
  // What learning from suggestions began is not part of the next.
  await gateway.settled();
  const inMemory = memory();
  const trainStep = await measureTraining(gateway, settings, job);
  const ingest = await measureIngest(gateway, team, job);
  return await ended(gateway, {
    ...start,
    ...inMemory,
    work: { settledCpuMs, search, suggest, trainStep, ingest },
  });
}

async function ended(gateway: Gateway, figures: GatewayFigures): Promise<GatewayFigures> {
  await gateway.close();
  return figures;
}

/** One step of the trainer on what the gateway itself would tell it, as after each run. */
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

/** As `pml trace import` takes traces in: checked, redacted, derived anew, stored; then learned by the graph. */
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

function memory() {
  return { residentBytes: process.memoryUsage.rss(), peakBytes: process.resourceUsage().maxRSS * 1024 };
}

if (process.send) {
  const figures = await measure(JSON.parse(process.argv[2]!) as GatewayJob);
  process.send(figures, () => process.exit());
}
