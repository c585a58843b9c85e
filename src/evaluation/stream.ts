import { mean, ranksOf } from '../core/learning/gate/metrics.ts';
import { createRandom, type Random } from '../core/numeric/random.ts';
import { words } from '../core/retrieval/words.ts';
import { isServerName, type ToolId, toolId } from '../core/vocabulary/ids.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { STREAM_WINDOWS, type StreamReport, type StreamWindow } from '../core/vocabulary/stream-report.ts';
import type { ToolDefinition } from '../core/vocabulary/tool-definition.ts';
import { scoreTools } from '../engine/catalogue/search.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { Upstream, UpstreamReply, UpstreamTool } from '../engine/ports.ts';
import type { DataSet, Task } from './data-set.ts';
import { f1 } from './plan-quality.ts';
import { type EvaluationPorts, openWorkbench, type Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Number of recurring jobs, and of runs. */
  jobs: 30,
  runs: 150,
  /** The r-th job is drawn in proportion to 1 / r^exponent (Zipf). */
  exponent: 1,
  /** Number of search results that are used. */
  hits: 50,
};

export interface StreamOptions {
  readonly seed: number;
  /** Milliseconds between runs; null: wait until everything is learned. */
  readonly pauseMs: number | null;
  /** Number of runs; if absent, as many as the windows cover. */
  readonly runs?: number;
  readonly onProgress?: (what: string, done?: number, total?: number) => void;
}

export interface StreamPorts extends EvaluationPorts {
  /** Opens a gateway on these servers that has learned nothing yet. */
  readonly openGateway: (upstream: Upstream, servers: readonly string[]) => Promise<Gateway>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Quality of the answers before one run. All in [0, 1]. */
interface Answered {
  readonly mrr: number;
  readonly hybridMrr: number;
  readonly planF1: number;
  readonly copyingF1: number;
  /** Null for a job that has no routine: a single call, or run only once. */
  readonly routineF1: number | null;
}

/**
 * A gateway in use: before each run it is asked for the coming task (test, then train). Jobs recur in other words, a
 * few of them often. Only repeated jobs count, because only for these the correct answer can be known.
 */
export async function measureStream(
  data: DataSet,
  { seed, pauseMs, runs, onProgress }: StreamOptions,
  ports: StreamPorts,
): Promise<StreamReport> {
  const startedAt = performance.now();
  const stream = drawStream(data, seed, runs);
  const bench = await openWorkbench({ ...data, train: stream, test: [] }, stream, ports, (done, total) =>
    onProgress?.(`${data.name}: embedding`, done, total),
  );
  const servers = recordedServers(data.tools);
  const gateway = await ports.openGateway(servers.upstream, servers.names);
  const answers: (Answered | null)[] = [];
  const gates: boolean[] = [];
  try {
    await gateway.settled();
    const seen = new Set<string>();
    for (const [i, task] of stream.entries()) {
      onProgress?.(`${data.name}: runs`, i, stream.length);
      answers.push(
        seen.has(task.group) ? await ask(gateway, bench, servers, task, stream.slice(0, i)) : null,
      );
      await run(gateway, servers, task, i);
      seen.add(task.group);
      if (pauseMs === null) await gateway.settled();
      else await ports.sleep(pauseMs);
      gates.push((await gateway.learning.report()).gate.open);
    }
  } finally {
    await gateway.close();
  }
  return {
    dataset: data.name,
    protocol: 'stream',
    seed,
    pause_ms: pauseMs,
    jobs: new Set(stream.map(({ group }) => group)).size,
    n: stream.length,
    tools: data.tools.length,
    embedding: bench.embeddings.model,
    windows: STREAM_WINDOWS.filter(([from]) => from <= stream.length).map(([from, to]) =>
      windowOf(from, to, answers, gates),
    ),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Random jobs with at least two wordings; wordings are used in turn, and again after the last. */
export function drawStream(
  { name, train, test }: Pick<DataSet, 'name' | 'train' | 'test'>,
  seed: number,
  runs = DEFAULTS.runs,
): Task[] {
  const random = createRandom(seed);
  const tasks = [...train, ...test].filter(({ isParallel }) => !isParallel);
  const recurring = [...Map.groupBy(tasks, ({ group }) => group)]
    .filter(([, wordings]) => new Set(wordings.map(({ intent }) => intent.trim())).size > 1)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, wordings]) => wordings);
  if (recurring.length === 0) {
    throw new PmlError(
      'invalid_argument',
      `The data set "${name}" has no job that recurs in different words`,
      {
        hint: 'Give tasks that are the same work the same "group".',
      },
    );
  }
  const jobs = random
    .shuffle(recurring)
    .slice(0, DEFAULTS.jobs)
    .map((wordings) => ({ wordings: random.shuffle([...wordings]), runs: 0 }));
  return Array.from({ length: runs }, () => {
    const job = jobs[byZipf(random, jobs.length)]!;
    return job.wordings[job.runs++ % job.wordings.length]!;
  });
}

function byZipf(random: Random, n: number): number {
  const shares = Array.from({ length: n }, (_, i) => 1 / (i + 1) ** DEFAULTS.exponent);
  let left = random.next() * shares.reduce((sum, share) => sum + share, 0);
  const place = shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return place < 0 ? n - 1 : place;
}

/** Written as an agent would: one call after the other if there is an order, otherwise all at once. */
async function run(gateway: Gateway, { idOf }: RecordedServers, task: Task, i: number): Promise<void> {
  const calls = task.tools.map((tool) => {
    const id = idOf(tool);
    const at = id.indexOf(':');
    return `mcp[${JSON.stringify(id.slice(0, at))}][${JSON.stringify(id.slice(at + 1))}]({})`;
  });
  const code =
    task.isOrdered || calls.length === 1
      ? [...calls.map((call, n) => `const r${n} = await ${call};`), `return r${calls.length - 1};`].join('\n')
      : `return await Promise.all([${calls.join(', ')}]);`;
  const { status, error } = await gateway.executeCode(
    { code, intent: task.intent },
    { sessionId: `stream-${i}` },
  );
  if (status !== 'success')
    throw new PmlError('internal', `Task "${task.id}" cannot be run: ${error?.message}`);
}

async function ask(
  gateway: Gateway,
  bench: Workbench,
  { idOf }: RecordedServers,
  task: Task,
  past: readonly Task[],
): Promise<Answered> {
  const right = new Set(task.tools.map(idOf) as string[]);
  const { plan } = await gateway.suggest(task.intent);
  const known = new Map((await gateway.capabilities.list()).map(({ slug, toolsUsed }) => [slug, toolsUsed]));
  const planned = plan.tasks.flatMap(({ tool, capability }): readonly string[] =>
    tool !== undefined ? [tool] : (known.get(capability ?? '') ?? []),
  );
  const [routine] = await gateway.searchCapabilities(task.intent, 1);
  const hits = await gateway.searchTools({ query: task.intent, limit: DEFAULTS.hits });
  const first = hits.findIndex(({ tool }) => right.has(tool.id));
  const hybrid = await scoreTools(bench.index, bench.embeddings, task.intent);
  return {
    mrr: first < 0 ? 0 : 1 / (first + 1),
    hybridMrr: 1 / Math.min(...ranksOf(hybrid?.fused ?? [], bench.goldOf(task))),
    planF1: f1(new Set(planned), right),
    copyingF1: f1(new Set(mostWordsInCommon(task, past).tools.map(idOf) as string[]), right),
    routineF1: hasRoutine(task, past) ? f1(new Set(routine?.toolsUsed), right) : null,
  };
}

/** A routine is admitted after two runs, and a single call needs none. */
function hasRoutine({ group, tools }: Task, past: readonly Task[]): boolean {
  return new Set(tools).size > 1 && past.filter((earlier) => earlier.group === group).length > 1;
}

/** The baseline anybody could do by hand; ties go to the newest. */
function mostWordsInCommon(task: Task, past: readonly Task[]): Task {
  const asked = new Set(words(task.intent));
  const common = past.map(({ intent }) => new Set(words(intent)).intersection(asked).size);
  return past[common.lastIndexOf(Math.max(...common))]!;
}

function windowOf(
  from: number,
  to: number | null,
  answers: readonly (Answered | null)[],
  gates: readonly boolean[],
): StreamWindow {
  const last = Math.min(to ?? answers.length, answers.length);
  const inside = answers.slice(from - 1, last);
  const counted = inside.filter((answer) => answer !== null);
  const known = (figure: keyof Answered) =>
    counted.map((answer) => answer[figure]).filter((value) => value !== null);
  const meanOf = (figure: keyof Answered) => (known(figure).length === 0 ? null : mean(known(figure)));
  return {
    from,
    to: last,
    n: counted.length,
    mrr: meanOf('mrr'),
    hybrid_mrr: meanOf('hybridMrr'),
    plan_f1: meanOf('planF1'),
    copying_f1: meanOf('copyingF1'),
    routine_f1: meanOf('routineF1'),
    routines: known('routineF1').length,
    // Only data sets with arguments could measure this; those with groups have none.
    arguments_right: null,
    gate_open: gates[last - 1] ?? false,
  };
}

/** The tools of a data set as servers for a gateway: every call succeeds and says so. */
interface RecordedServers {
  readonly upstream: Upstream;
  readonly names: readonly string[];
  /** The gateway's id of a tool of the data set. */
  readonly idOf: (tool: string) => ToolId;
}

function recordedServers(tools: readonly ToolDefinition[]): RecordedServers {
  const servers = new Map<string, Map<string, UpstreamTool>>();
  const ids = new Map<string, ToolId>();
  for (const { id, server, name, description, inputSchema } of tools) {
    const serverName = serverNameOf(server);
    const listed = servers.get(serverName) ?? new Map<string, UpstreamTool>();
    servers.set(serverName, listed);
    // In a data set two tools of a server may share a name, so the id is used for the second.
    const ownName = listed.has(name) ? id : name;
    listed.set(ownName, { name: ownName, description, inputSchema: withoutRequired(inputSchema) });
    ids.set(id, toolId(serverName, ownName));
  }
  const since = new Date(0);
  const identity = {
    info: null,
    capabilities: { tools: {} },
    instructions: null,
    protocolVersion: '2025-11-25',
  };
  const done = async <T>(value: T): Promise<UpstreamReply<T>> => ({ ok: true, value });
  const upstream: Upstream = {
    servers: () =>
      [...servers].map(([name, listed]) => ({
        name,
        transport: 'stdio',
        state: 'ready',
        since,
        error: null,
        pid: null,
        toolCount: listed.size,
        protocolVersion: identity.protocolVersion,
        callsInFlight: 0,
        callsWaiting: 0,
        garbageLines: 0,
      })),
    start: () => done(identity),
    catalogue: (server) => done([...(servers.get(server)?.values() ?? [])]),
    callTool: (server, tool) => done({ content: [], structuredContent: { done: `${server} ${tool}` } }),
    request: () => done({}),
    notify: async () => true,
    subscribe: () => () => {},
    forgetClient: async () => {},
    restart: () => done(identity),
    reload: async () => ({ added: [], removed: [], restarted: [], adjusted: [] }),
    logs: () => [],
    login: () => done({ done: true }),
    keep: () => done(null),
    close: async () => {},
  };
  return { upstream, names: [...servers.keys()], idOf: (tool) => ids.get(tool)! };
}

function serverNameOf(server: string): string {
  const plain = server.replace(/[^A-Za-z0-9_.-]/g, '_').replace(/^[_.-]+/, '') || 'server';
  return isServerName(plain) ? plain : `${plain}_server`;
}

/** Tasks name the tools that are called, but not the arguments. */
function withoutRequired(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return { type: 'object' };
  const { required: _, ...rest } = schema as Record<string, unknown>;
  return rest;
}
