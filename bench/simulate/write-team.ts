import { type Kysely, sql } from 'kysely';
import type { Database } from '../../src/adapters/store/database.ts';
import { createSqlStore } from '../../src/adapters/store/sql-store.ts';
import { applyTraces } from '../../src/core/graph/apply-trace.ts';
import { TypedGraph } from '../../src/core/graph/typed-graph.ts';
import { NO_EVIDENCE } from '../../src/core/learning/gate/gate.ts';
import { Familiarity } from '../../src/core/learning/ranker/familiarity.ts';
import { encodeParams } from '../../src/core/learning/ranker/params-file.ts';
import { rankerBlocks } from '../../src/core/learning/ranker/rank-learner.ts';
import { createRankModel } from '../../src/core/learning/ranker/rank-model.ts';
import { WasmMultiplier } from '../../src/core/numeric/kernels.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import { invocationToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { toWire } from '../../src/core/vocabulary/trace-event.ts';
import { createProgramCache } from '../../src/engine/code/program.ts';
import { traceFacts } from '../../src/engine/graph/trace-facts.ts';
import type { TrainingMetrics } from '../../src/engine/learning/stored-model.ts';
import type { StoredGraph } from '../../src/engine/ports.ts';
import type { MadeUpRun, MadeUpTeam } from './made-up-team.ts';

const DEFAULTS = {
  /** Rows per statement; a trace with its vectors is about 10 kB of text. */
  batch: 400,
  /** Traces copied by one statement. */
  copied: 10_000,
  /** Number of training runs that the stand-in parameters claim. */
  learnedFrom: 1_000,
};

const REPEATED = [
  ...['session_id', 'intent_text', 'intent_embedding', 'clause_embeddings', 'embedding_model', 'success'],
  ...['duration_ms', 'error_message', 'error_type', 'executed_path', 'tool_invocations', 'decisions'],
  ...['task_results', 'priority', 'events', 'visibility'],
];

export interface WrittenTeam {
  readonly seconds: number;
  readonly nodes: number;
  readonly edges: number;
}

export interface WriteOptions {
  readonly traces: number;
  /** Beyond this number the past repeats: the same runs with other ids and times. */
  readonly distinct: number;
  readonly embedding: { readonly model: string; readonly dimension: number };
  /** By server: the hash of its settings, so that no gateway lists its tools again. */
  readonly settingsHashes: ReadonlyMap<string, string>;
  readonly onProgress?: (traces: number) => void;
}

/**
 * Writes a team's past as the product would have stored it: tools and vectors, traces by month, their graph (built by
 * the product's own code), and parameters of a ranker with its gate open, so that search ranks by past runs. The
 * parameters are not trained: their cost does not depend on their values.
 */
export async function writeTeam(
  db: Kysely<Database>,
  team: MadeUpTeam,
  options: WriteOptions,
): Promise<WrittenTeam> {
  const { traces, embedding, settingsHashes, onProgress = () => {} } = options;
  const startedAt = performance.now();
  const store = createSqlStore(db);
  await writeTools(db, team, embedding.model, settingsHashes);
  const distinct = Math.min(traces, options.distinct);
  const repeats = traces / distinct;
  if (!Number.isInteger(repeats)) throw new Error(`${traces} traces are not a multiple of ${distinct}`);
  await makeMonths(db, [team.run(0, traces), team.run(traces - 1, traces)]);
  const graph = new TypedGraph();
  const programs = createProgramCache();
  let writing: Promise<void> = Promise.resolve();
  for (let first = 0; first < distinct; first += DEFAULTS.batch) {
    const runs = Array.from({ length: Math.min(DEFAULTS.batch, distinct - first) }, (_, i) =>
      team.run(first + i, traces),
    );
    await writing;
    writing = insertAll(db, 'execution_trace', runs.map(traceRecord));
    applyTraces(
      graph,
      runs.map(({ trace }) => traceFacts(programs, trace)),
    );
    onProgress(first + runs.length);
  }
  await writing;
  const apart =
    team.run(distinct, traces).trace.executedAt.getTime() - team.run(0, traces).trace.executedAt.getTime();
  for (let nth = 1; nth < repeats; nth++) {
    for (let from = 0; from < distinct; from += DEFAULTS.copied) {
      await repeatTraces(db, { from, to: Math.min(from + DEFAULTS.copied, distinct) }, nth, nth * apart);
      onProgress(nth * distinct + from);
    }
  }
  const { rows } = await sql<{ last: number }>`select max(seq) as last from trace_key`.execute(db);
  await store.graph.replaceAll({ ...times(graph, repeats), cursor: Number(rows[0]?.last ?? 0) });
  await store.rankerParams.save(standInParams(embedding));
  const { nodes, edges } = graph.size;
  return { seconds: (performance.now() - startedAt) / 1000, nodes, edges };
}

/** Partitions from the first run's month to the last one's. */
async function makeMonths(db: Kysely<Database>, [first, last]: [MadeUpRun, MadeUpRun]): Promise<void> {
  const month = new Date(first.trace.executedAt);
  month.setUTCDate(1);
  for (; month <= last.trace.executedAt; month.setUTCMonth(month.getUTCMonth() + 1)) {
    await sql`select ensure_trace_month(${month.toISOString()}::timestamptz)`.execute(db);
  }
}

/** Copies the runs between two numbers, shifted by this many milliseconds. */
async function repeatTraces(
  db: Kysely<Database>,
  { from, to }: { readonly from: number; readonly to: number },
  nth: number,
  laterMs: number,
): Promise<void> {
  const rest = sql.join(REPEATED.map((column) => sql.ref(column)));
  await sql`
    insert into execution_trace (id, run_id, executed_at, ${rest})
    select md5(id || ${`#${nth}`}::text), md5(run_id || ${`#${nth}`}::text),
      executed_at + ${laterMs}::float8 * interval '1 millisecond', ${rest}
    from execution_trace where seq > ${from} and seq <= ${to} order by seq`.execute(db);
}

/** The graph after this many repetitions of every run. */
function times(graph: TypedGraph, repeats: number): Pick<StoredGraph, 'edges' | 'statistics'> {
  return {
    edges: graph.edges().map((edge) => ({
      ...edge,
      observedCount: edge.observedCount * repeats,
      invocationCount: edge.invocationCount * repeats,
      valuePaths: edge.valuePaths.map((path) => ({ ...path, runs: path.runs * repeats })),
    })),
    statistics: graph.statistics().map(({ node, lastSeenAt, ...counts }) => ({
      node,
      lastSeenAt,
      runs: counts.runs * repeats,
      calls: counts.calls * repeats,
      failures: counts.failures * repeats,
      repeats: counts.repeats * repeats,
      repeatRuns: counts.repeatRuns * repeats,
    })),
  };
}

async function writeTools(
  db: Kysely<Database>,
  { tools, servers, vectorOf }: MadeUpTeam,
  model: string,
  settingsHashes: ReadonlyMap<string, string>,
): Promise<void> {
  const tables = ['tool_schema', 'tool_embedding'] as const;
  // Change notifications are only needed by running gateways.
  for (const table of tables) await sql`alter table ${sql.table(table)} disable trigger user`.execute(db);
  for (let first = 0; first < tools.length; first += DEFAULTS.batch) {
    const some = tools.slice(first, first + DEFAULTS.batch);
    await insertAll(
      db,
      'tool_schema',
      some.map(({ id, server, name, description, inputSchema, definitionHash }) => ({
        tool_id: id,
        server_id: server,
        name,
        description,
        input_schema: inputSchema,
        definition_hash: definitionHash,
        retired: false,
      })),
    );
    await insertAll(
      db,
      'tool_embedding',
      some.map(({ id, definitionHash }) => ({
        tool_id: id,
        model,
        definition_hash: definitionHash,
        embedding: hex(vectorOf(id)),
      })),
    );
  }
  for (const table of tables) await sql`alter table ${sql.table(table)} enable trigger user`.execute(db);
  const refreshed_at = new Date().toISOString();
  await insertAll(
    db,
    'upstream_server',
    servers.map((name) => ({
      name,
      settings_hash: settingsHashes.get(name),
      identity: { name, version: '1' },
      refreshed_at,
    })),
  );
}

/** Uses the column names; the rest follows from the table's defaults. */
async function insertAll(
  db: Kysely<Database>,
  table: keyof Database,
  records: readonly Record<string, unknown>[],
): Promise<void> {
  if (records.length === 0) return;
  const columns = sql.join(Object.keys(records[0]!).map((column) => sql.ref(column)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(records)}::json)`.execute(
    db,
  );
}

function traceRecord({ trace, clauses }: MadeUpRun): Record<string, unknown> {
  return {
    id: trace.id,
    run_id: trace.runId,
    session_id: trace.sessionId,
    intent_text: trace.intentText,
    intent_embedding: hex(trace.intentEmbedding!),
    clause_embeddings: `\\x${clauses.map(halves).join('')}`,
    embedding_model: trace.embeddingModel,
    executed_at: trace.executedAt.toISOString(),
    success: trace.success,
    duration_ms: trace.durationMs,
    error_message: trace.errorMessage,
    error_type: trace.errorType,
    executed_path: trace.executedPath,
    tool_invocations: trace.toolInvocations.map(invocationToWire),
    decisions: trace.decisions,
    task_results: trace.taskResults,
    priority: trace.priority,
    events: trace.events.map(toWire),
    visibility: trace.visibility,
  };
}

/** In PostgreSQL's format for bytes. */
function hex({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `\\x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`;
}

const knownHalves = new WeakMap<Float32Array, string>();

/** Clauses have few wordings, so each vector occurs many times. */
function halves(vector: Float32Array): string {
  const known = knownHalves.get(vector);
  if (known !== undefined) return known;
  const made = Buffer.from(Float16Array.from(vector).buffer).toString('hex');
  knownHalves.set(vector, made);
  return made;
}

function standInParams({ model, dimension }: WriteOptions['embedding']) {
  const runs = DEFAULTS.learnedFrom;
  const { parameters } = createRankModel(new WasmMultiplier(), dimension, createRandom(1));
  const metrics: TrainingMetrics = {
    runs,
    seen: runs,
    gate: {
      open: true,
      gain: 0.1,
      ci95: [0.05, 0.15],
      n: 100,
      far: { gain: 0, ci95: [0, 0], n: 60 },
      since: null,
    },
    evidence: {
      ...NO_EVIDENCE,
      learned: Array.from({ length: 100 }, () => 0.6),
      hybrid: Array.from({ length: 100 }, () => 0.5),
      keys: Array.from({ length: 100 }, (_, i) => i),
    },
    losses: [],
    seconds: 0,
  };
  return {
    id: 'made-up',
    model,
    bytes: encodeParams(
      { embedding: model, dimension, runs },
      rankerBlocks(parameters, new Familiarity(-1, -1, 0)),
    ),
    metrics: { ...metrics },
    createdAt: new Date(),
  };
}
