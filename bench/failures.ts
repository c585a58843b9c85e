/**
 * How early a run that will fail can be told from one that will not: BFCL's executable tasks on their real servers, with
 * faults put in by a seeded hand. Each task runs once as it should and once with each kind of fault at a random call: an
 * argument replaced by another, a call without one of its arguments, a call left out, a call made twice. Half of the calls
 * that are refused because of it are then made again as they should, as agents do. A run has succeeded when every right call
 * was made and the servers end in the state they should. Learned from the train tasks in random order, judged on the dev tasks after each call: the area under the ROC curve, against the number of errors so
 * far. `--data DIR` names the folder of the data sets. docs/procedures.md has the figures.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileTokenStore } from '../src/adapters/upstream/file-token-store.ts';
import { McpUpstream } from '../src/adapters/upstream/mcp-upstream.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { deriveTrace } from '../src/core/tracing/derive-trace.ts';
import { classifyError, createRecorder } from '../src/core/tracing/recorder.ts';
import type { ExecutionTrace } from '../src/core/vocabulary/execution-trace.ts';
import { toolId } from '../src/core/vocabulary/ids.ts';
import { toolValue } from '../src/engine/calls/call-tool.ts';
import { createSuccessWatch, type SuccessParts } from '../src/engine/learning/success-watch.ts';
import type { JsonObject } from '../src/engine/ports.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { type BfclPack, beginTask, endsWell, findPack, packServers, type Task } from './support/bfcl-pack.ts';

const NAME = 'failures';
const DEFAULTS = { seed: 20_261_117, resamples: 1_000, indices: [1, 2, 3, 4, 6, 8], orders: 3 };
const FAULTS = ['none', 'wrong argument', 'failing call', 'skipped step', 'repeated call'] as const;
type Fault = (typeof FAULTS)[number];

type Call = { readonly tool: string; readonly arguments: JsonObject; readonly fails?: boolean };

interface FaultyRun {
  readonly task: string;
  readonly fault: Fault;
  readonly failed: boolean;
  readonly trace: ExecutionTrace;
}

export async function bench(): Promise<BenchReport> {
  const pack = process.env.PML_BENCH_DATA ? findPack(process.env.PML_BENCH_DATA) : null;
  if (!pack) {
    const below =
      'Nothing measured: the BFCL tasks are absent. Name the folder that has bfcl/tasks.train.jsonl with --data DIR (docs/procedures.md).';
    return { name: NAME, rows: [], below };
  }
  if (spawnSync('python3', ['--version']).status !== 0)
    return { name: NAME, rows: [], below: 'Nothing measured: its servers need python3, 3.9 or newer.' };
  const dir = mkdtempSync(join(tmpdir(), 'pml-failures-'));
  try {
    const { train, dev } = await runAll(pack, dir);
    return { name: NAME, rows: rowsOf(train, dev) };
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runAll(pack: BfclPack, states: string) {
  const servers = packServers(pack, states);
  const upstream = new McpUpstream({
    servers,
    dataDir: mkdtempSync(join(states, 'data-')),
    tokens: fileTokenStore(states),
    clock: { now: () => new Date(), monotonic: () => performance.now() },
    random: () => 0,
    logger: { log: () => {} },
    info: { name: 'pml-bench', version: '0' },
  });
  const random = createRandom(DEFAULTS.seed);
  const run = async (tasks: readonly Task[]) => {
    const all: FaultyRun[] = [];
    for (const task of tasks)
      for (const fault of FAULTS) all.push(await runTask(upstream, states, task, fault, random));
    return all;
  };
  try {
    await Promise.all(servers.map(({ name }) => upstream.start(name)));
    return { train: await run(pack.train), dev: await run(pack.dev) };
  } finally {
    await upstream.close();
  }
}

let clock = Date.UTC(2026, 0, 1);

async function runTask(
  upstream: McpUpstream,
  states: string,
  task: Task,
  fault: Fault,
  random: Random,
): Promise<FaultyRun> {
  // Each call once, so that one is not taken for another that is the same.
  const right: Call[] = task.turns.flatMap(({ calls }) => calls.map((call) => ({ ...call }) as Call));
  const { calls, retry } = withFault(right, fault, random);
  const isRetried = random.next() < 0.5;
  // Servers begin again when the task is another.
  beginTask(states, { ...task, id: `${task.id} ${fault}` });
  let now = 0;
  let ids = 0;
  const recorder = createRecorder({ now: () => now++, newId: () => `c${ids++}`, redact: (value) => value });
  const done = new Map<Call, number>();
  const make = async (call: Call): Promise<boolean> => {
    const [server, name] = call.tool.split(':') as [string, string];
    const span = recorder.start(toolId(server, name), null, call.arguments);
    const reply = await upstream.callTool(server, name, call.arguments);
    const isError = !reply.ok || reply.value.isError === true;
    const complaint = reply.ok ? JSON.stringify(toolValue(reply.value)) : reply.error.message;
    if (isError) span.end({ success: false, error: complaint, errorType: classifyError(complaint) });
    else span.end({ success: true, result: toolValue(reply.value) });
    if (!isError || call.fails) done.set(call, (done.get(call) ?? 0) + 1);
    return !isError;
  };
  for (const call of calls) {
    const isMade = await make(call);
    if (!isMade && retry && call === retry.wrong && isRetried) await make(retry.right);
  }
  const failed = right.some((call) => !done.has(call)) || !endsWell(states, task);
  const { executedPath, toolInvocations } = deriveTrace(recorder.events);
  clock += 60_000;
  const trace = {
    id: `${task.id} ${fault}`,
    runId: `${task.id} ${fault}`,
    sessionId: null,
    origin: 'agent',
    visibility: 'shared',
    owner: null,
    executedAt: new Date(clock),
    success: !failed,
    intentEmbedding: null,
    embeddingModel: null,
    errorType: null,
    capabilityId: null,
    guest: null,
    executedPath,
    toolInvocations,
    events: [...recorder.events],
  } as unknown as ExecutionTrace;
  return { task: task.id, fault, failed, trace };
}

interface Faulty {
  readonly calls: readonly Call[];
  /** What may be made again as it should. */
  readonly retry?: { readonly wrong: Call; readonly right: Call };
}

function withFault(calls: readonly Call[], fault: Fault, random: Random): Faulty {
  const at = random.int(calls.length);
  const right = calls[at]!;
  const names = Object.keys(right.arguments);
  const name = names[random.int(Math.max(1, names.length))] ?? 'nothing';
  const instead = (args: JsonObject): Faulty => {
    const wrong = { ...right, arguments: args, fails: false };
    return { calls: calls.toSpliced(at, 1, wrong), retry: { wrong, right } };
  };
  switch (fault) {
    case 'none':
      return { calls };
    case 'skipped step':
      return { calls: calls.toSpliced(at, 1) };
    case 'repeated call':
      return { calls: calls.toSpliced(at, 0, right) };
    case 'wrong argument':
      return instead({ ...right.arguments, [name]: changed(right.arguments[name], random) });
    case 'failing call': {
      const { [name]: _, ...rest } = right.arguments;
      return instead(names.length === 0 ? { nothing: 1 } : rest);
    }
  }
}

function changed(value: unknown, random: Random): unknown {
  if (typeof value === 'number') return value + 1 + random.int(9);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value.slice(0, 3)}${random.int(1000)}`;
  return Array.isArray(value) ? value.slice(1) : null;
}

type Score = (run: FaultyRun) => readonly number[];

const errorsSoFar: Score = ({ trace }) => {
  let errors = 0;
  return trace.toolInvocations.map(({ success }) => (errors += Number(!success)));
};

/** Learned from the train runs in a random order; the mean over some orders, so that none decides. */
function learned(train: readonly FaultyRun[], parts: SuccessParts): Score {
  const watches = Array.from({ length: DEFAULTS.orders }, (_, i) => {
    const watch = createSuccessWatch(parts);
    for (const { trace } of createRandom(DEFAULTS.seed + i).shuffle([...train])) watch.add(trace);
    return watch;
  });
  return ({ trace }) => {
    const all = watches.map((watch) => watch.predict(trace.events, trace.executedAt.getTime()));
    return all[0]!.map((_, i) => all.reduce((sum, chances) => sum + chances[i]!, 0) / all.length);
  };
}

interface Scored {
  readonly task: string;
  readonly failed: boolean;
  readonly scores: readonly number[];
}

/** After this call, or the last one of a shorter run. */
const at = (scores: readonly number[], index: number) => scores[Math.min(index, scores.length) - 1]!;

function areaOf(runs: readonly Scored[], scoreOf: (run: Scored) => number): number {
  const scored = runs.map((run) => ({ failed: run.failed, score: scoreOf(run) }));
  const [bad, good] = [scored.filter(({ failed }) => failed), scored.filter(({ failed }) => !failed)];
  let above = 0;
  for (const a of bad) for (const b of good) above += a.score > b.score ? 1 : a.score === b.score ? 0.5 : 0;
  return bad.length === 0 || good.length === 0 ? 0.5 : above / (bad.length * good.length);
}

/** 95 % of resamples of whole tasks (Efron & Tibshirani, 1993). */
function interval(tasks: readonly string[], figure: (drawn: readonly string[]) => number): string {
  const random = createRandom(DEFAULTS.seed);
  const figures = Array.from({ length: DEFAULTS.resamples }, () =>
    figure(tasks.map(() => tasks[random.int(tasks.length)]!)),
  ).sort((a, b) => a - b);
  const bound = (share: number) => figures[Math.round(share * (figures.length - 1))]!.toFixed(3);
  return `${bound(0.025)} to ${bound(0.975)}`;
}

function rowsOf(train: readonly FaultyRun[], dev: readonly FaultyRun[]): BenchRow[] {
  const tasks = [...new Set(dev.map(({ task }) => task))];
  const scoredBy = (score: Score) =>
    Map.groupBy(
      dev
        .filter(({ trace }) => trace.events.length > 0)
        .map((run): Scored => ({ ...run, scores: score(run) })),
      ({ task }) => task,
    );
  const drawnFrom = (runs: ReadonlyMap<string, readonly Scored[]>, drawn: readonly string[]) =>
    drawn.flatMap((task) => runs.get(task) ?? []);
  /** The mean over the call indices of the table. */
  const mean = (runs: readonly Scored[]) =>
    DEFAULTS.indices.reduce((sum, index) => sum + areaOf(runs, ({ scores }) => at(scores, index)), 0) /
    DEFAULTS.indices.length;
  const baseline = scoredBy(errorsSoFar);
  const full = scoredBy(learned(train, {}));
  const rows: BenchRow[] = FAULTS.map((fault) => {
    const own = [...train, ...dev].filter((run) => run.fault === fault);
    return {
      label: `runs that failed: ${fault} (of ${own.length})`,
      value: own.filter(({ failed }) => failed).length,
      unit: '',
    };
  });
  for (const index of DEFAULTS.indices) {
    const of = (runs: readonly Scored[]) => areaOf(runs, ({ scores }) => at(scores, index));
    const all = (runs: typeof full) => of(drawnFrom(runs, tasks));
    rows.push(
      { label: `AUC after call ${index}, errors so far`, value: all(baseline), unit: '' },
      {
        label: `AUC after call ${index}, learned (${interval(tasks, (drawn) => of(drawnFrom(full, drawn)))}; gain ${interval(tasks, (drawn) => of(drawnFrom(full, drawn)) - of(drawnFrom(baseline, drawn)))})`,
        value: all(full),
        unit: '',
      },
    );
  }
  const compared = (label: string, runs: typeof full): BenchRow => ({
    label: `${label} (difference to all parts ${interval(tasks, (drawn) => mean(drawnFrom(runs, drawn)) - mean(drawnFrom(full, drawn)))})`,
    value: mean(drawnFrom(runs, tasks)),
    unit: '',
  });
  rows.push(
    { label: 'mean AUC, all parts', value: mean(drawnFrom(full, tasks)), unit: '' },
    compared('mean AUC, errors so far', baseline),
    compared('mean AUC, without the TD discount', scoredBy(learned(train, { discount: false }))),
    compared('mean AUC, without prioritized replay', scoredBy(learned(train, { priorities: false }))),
    compared('mean AUC, without the 17 statistics', scoredBy(learned(train, { statistics: false }))),
    compared('mean AUC, the 17 statistics alone', scoredBy(learned(train, { signals: false }))),
  );
  return rows;
}
