/**
 * How much weight the graph should have beside the text in a search for the next tool: none, by its size (adaptive
 * alpha), or by its evidence around the context (local alpha). On data sets of tasks whose tools have an order: the
 * graph learns from training runs, then each next tool of other tasks is searched for with the task's intent and the
 * preceding tools as the context. `--data DIR` names the folder of the sets.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataDir } from '../src/adapters/config/find-config.ts';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { applyTraces } from '../src/core/graph/apply-trace.ts';
import { localAlpha } from '../src/core/graph/relatedness.ts';
import { TypedGraph } from '../src/core/graph/typed-graph.ts';
import { mean } from '../src/core/learning/gate/metrics.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import type { ToolId } from '../src/core/vocabulary/ids.ts';
import type { TraceEvent } from '../src/core/vocabulary/trace-event.ts';
import { type SearchGraph, search } from '../src/engine/catalogue/search.ts';
import { graphForSearch } from '../src/engine/graph/live-graph.ts';
import { type DataSet, findDataSets, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { type Fold, foldsOf } from '../src/evaluation/folds.ts';
import { type NextCase, nextCases } from '../src/evaluation/next-steps.ts';
import { type EvaluationPorts, openWorkbench, type Workbench } from '../src/evaluation/workbench.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { pairedBootstrap } from './support/paired-bootstrap.ts';

const SEED = 1;
/** Numbers of training runs of the graph; the last is all of them. */
const RUNS = [30, Number.POSITIVE_INFINITY];
/** Sets with fewer training tasks are split into five folds, the others keep their own split. */
const SMALL_SET = 200;
/** Number of preceding tools that a session's search uses as context. */
const CONTEXT = 5;
const CANDIDATES = 50;

type Context = ReturnType<SearchGraph['context']>;

/** Each gets the served alpha, and may replace it. */
const ALPHAS = {
  'no graph': (_served: Context) => 1,
  adaptive: ({ alpha }: Context) => alpha,
  local: ({ alpha }: Context, graph: TypedGraph, context: readonly string[]) =>
    alpha === 1 ? 1 : localAlpha(graph.snapshot(), context as readonly ToolId[]),
};
type Alpha = keyof typeof ALPHAS;
const NAMES = Object.keys(ALPHAS) as Alpha[];
const DIFFERENCES: readonly (readonly [Alpha, Alpha])[] = [
  ['adaptive', 'no graph'],
  ['local', 'no graph'],
  ['local', 'adaptive'],
];

/** One next tool: its reciprocal rank with each alpha, 0 if it was not found. */
interface Outcome {
  readonly group: string;
  readonly reciprocal: Readonly<Record<Alpha, number>>;
}

export async function bench(): Promise<BenchReport> {
  const folder = process.env.PML_BENCH_DATA;
  if (!folder || !existsSync(folder)) {
    const below = 'Nothing measured: name the folder of the data sets with --data DIR (docs/evaluation.md).';
    return { name: 'alpha', rows: [], below };
  }
  const embedder = new StoredEmbedder(
    new MiniLmEmbedder(),
    join(dataDir({ env: process.env, cwd: process.cwd() }), 'vectors'),
  );
  const ports = { embedder, emptyIndex: () => new WasmVectorIndex(embedder.dimension) };
  const rows: BenchRow[] = [];
  for (const set of await findDataSets(folder)) {
    for (const tasks of ['tasks', 'traces'] as const) {
      if (!existsSync(join(set, `${tasks}.train.jsonl`))) continue;
      rows.push(...(await measure(asServed(await readDataSet(set, { split: 'dev', tasks })), tasks, ports)));
    }
  }
  await embedder.close();
  return { name: 'alpha', rows };
}

/** Some sets name tools without a server; serving needs `server:tool`. Texts do not depend on ids. */
function asServed(data: DataSet): DataSet {
  const idOf = (id: string) => `${data.name}:${id}`;
  const rename = (task: Task): Task => ({
    ...task,
    tools: task.tools.map(idOf),
    alternatives: Object.fromEntries(
      Object.entries(task.alternatives).map(([id, others]) => [idOf(id), others.map(idOf)]),
    ),
  });
  return {
    ...data,
    tools: data.tools.map((tool) => ({ ...tool, id: idOf(tool.id) as ToolId })),
    train: data.train.filter(({ isOrdered }) => isOrdered).map(rename),
    test: data.test.filter(({ isOrdered }) => isOrdered).map(rename),
  };
}

async function measure(data: DataSet, tasks: string, ports: EvaluationPorts): Promise<BenchRow[]> {
  const folds = foldsOf(data, data.train.length < SMALL_SET ? 'cv5' : 'disjoint', SEED);
  const measured = folds.flatMap(({ test }) => test);
  const longest = Math.max(0, ...folds.map(({ train }) => train.length));
  if (longest === 0 || !measured.some(({ tools }) => tools.length > 1)) return [];
  const bench = await openWorkbench(data, measured, ports);
  const rows: BenchRow[] = [];
  for (const runs of [...RUNS.filter((count) => count < longest), longest]) {
    const outcomes: Outcome[] = [];
    for (const fold of folds) outcomes.push(...(await measureFold(bench, fold, runs)));
    rows.push(...rowsOf(`${data.name} ${tasks}, ${runs} runs`, outcomes));
  }
  return rows;
}

function rowsOf(label: string, outcomes: readonly Outcome[]): BenchRow[] {
  const tasks = [...Map.groupBy(outcomes, ({ group }) => group).values()];
  return [
    ...NAMES.map((name) => ({
      label: `${label}: ${name}`,
      value: mean(outcomes.map(({ reciprocal }) => reciprocal[name])),
      unit: 'MRR',
    })),
    ...DIFFERENCES.map(([a, b]) => {
      const differences = tasks.map((task) => task.map(({ reciprocal }) => reciprocal[a] - reciprocal[b]));
      const { mean: value, ci95 } = pairedBootstrap(differences, createRandom(SEED));
      return { label: `${label}: ${a} - ${b}`, value, unit: 'MRR', ci95 };
    }),
  ];
}

async function measureFold(bench: Workbench, { train, test }: Fold, runs: number): Promise<Outcome[]> {
  const graph = new TypedGraph();
  const learned = createRandom(SEED)
    .shuffle([...train])
    .slice(0, runs);
  applyTraces(
    graph,
    learned.map((task, at) => ({ at, events: eventsOf(task) })),
  );
  const served = graphForSearch(() => graph, catalogueOf(bench));
  const outcomes: Outcome[] = [];
  for (const next of nextCases(bench, test)) outcomes.push(await outcomeOf(bench, next, graph, served));
  return outcomes;
}

async function outcomeOf(
  { index, embeddings }: Workbench,
  { task, before, accepted }: NextCase,
  graph: TypedGraph,
  served: SearchGraph,
): Promise<Outcome> {
  const right = new Set(accepted.map((place) => index.ids[place]));
  const called = [...new Set(before.toReversed())].slice(0, CONTEXT);
  const contextTools = called.map((place) => index.ids[place]!);
  const query = { query: task.intent, limit: CANDIDATES, contextTools };
  const reciprocal = { 'no graph': 0, adaptive: 0, local: 0 };
  for (const name of NAMES) {
    const hits = await search(index, embeddings, query, {
      ...served,
      context: (tools) => {
        const context = served.context(tools);
        return { ...context, alpha: ALPHAS[name](context, graph, tools) };
      },
    });
    const place = hits.findIndex(({ tool }) => right.has(tool.id));
    if (place >= 0) reciprocal[name] = 1 / (place + 1);
  }
  return { group: task.group, reciprocal };
}

/** Sequential calls. */
function eventsOf({ tools }: Task): TraceEvent[] {
  return tools.flatMap((tool, i): TraceEvent[] => {
    const call = { traceId: `call-${i}`, parentTraceId: null, node: tool as ToolId };
    return [
      { ...call, type: 'tool_start', ts: 2 * i },
      { ...call, type: 'tool_end', ts: 2 * i + 1, success: true, durationMs: 1 },
    ];
  });
}

function catalogueOf({ index }: Workbench): Parameters<typeof graphForSearch>[1] {
  const entries = index.tools.map((tool) => ({ tool, proposed: null }));
  const byId = new Map(entries.map((entry) => [entry.tool.id, entry]));
  const catalogue = { vectors: index.vectors, entries, get: (id: ToolId) => byId.get(id) };
  return () => catalogue;
}
