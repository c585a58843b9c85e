import type { Kysely, Selectable, Transaction } from 'kysely';
import type { GraphEdge, NodeStatistics } from '../../../core/graph/graph-edge.ts';
import type { ValuePath } from '../../../core/graph/value-paths.ts';
import { compareEdges, type EdgeSource, type EdgeType } from '../../../core/vocabulary/edge.ts';
import { kindOf, type NodeId } from '../../../core/vocabulary/ids.ts';
import type { EdgeKey, GraphPosition, GraphStore, StoredGraph } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text } from './codec.ts';

const DEFAULTS = {
  /** Rows per statement; PostgreSQL allows 65,535 parameters. */
  batch: 500,
};

/** Edges of a capability are in `capability_dependency`, all others in `tool_dependency`. */
const EDGE_TABLES = ['tool_dependency', 'capability_dependency'] as const;

type Tx = Transaction<Database>;

export function sqlGraph(db: Kysely<Database>): GraphStore {
  /** Serializes writers, also across processes: the state's row is locked until the end. */
  const write = <T>(what: string, work: (tx: Tx, at: GraphPosition) => Promise<T>) =>
    guarded(what, () =>
      db.transaction().execute(async (tx) => {
        const state = tx.selectFrom('graph_state').select(['cursor', 'generation']).forUpdate();
        return await work(tx, await state.executeTakeFirstOrThrow());
      }),
    );

  return {
    read: () =>
      guarded('Reading the graph', () =>
        // One snapshot of all four tables: a writer may commit between two queries.
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (tx) => {
            const { cursor } = await tx.selectFrom('graph_state').select('cursor').executeTakeFirstOrThrow();
            const statistics = await tx.selectFrom('node_statistics').selectAll().execute();
            const tools = await tx.selectFrom('tool_dependency').selectAll().execute();
            const capabilities = await tx.selectFrom('capability_dependency').selectAll().execute();
            return {
              edges: [...tools, ...capabilities].map(toEdge).sort(compareEdges),
              statistics: statistics.map(toStatistics).sort((a, b) => (a.node < b.node ? -1 : 1)),
              cursor,
            };
          }),
      ),

    position: () =>
      guarded('Reading the position of the graph', () =>
        db.selectFrom('graph_state').select(['cursor', 'generation']).executeTakeFirstOrThrow(),
      ),

    apply: (step) =>
      write('Storing changes of the graph', async (tx, { cursor, generation }) => {
        if (cursor !== step.from || generation !== (step.generation ?? generation)) return false;
        await put(tx, step);
        return true;
      }),

    remove: (edges) =>
      write('Removing edges', async (tx) => {
        for (const [table, keys] of Map.groupBy(edges, tableOf)) {
          for (const some of batches(keys)) {
            await tx
              .deleteFrom(table)
              .where((e) =>
                e(
                  e.refTuple(...EDGE_KEY),
                  'in',
                  some.map(({ from, to, type }) => e.tuple(text(from), text(to), type)),
                ),
              )
              .execute();
          }
        }
      }),

    replaceAll: (graph) =>
      write('Replacing the graph', async (tx, { generation }) => {
        for (const table of [...EDGE_TABLES, 'node_statistics'] as const)
          await tx.deleteFrom(table).execute();
        await put(tx, graph);
        await tx
          .updateTable('graph_state')
          .set({ generation: generation + 1 })
          .execute();
      }),
  };
}

async function put(tx: Tx, { edges, statistics, cursor }: StoredGraph): Promise<void> {
  for (const [table, those] of Map.groupBy(edges, tableOf)) await putEdges(tx, table, those);
  await putStatistics(tx, 'node_statistics', statistics);
  await tx.updateTable('graph_state').set({ cursor }).execute();
}

function tableOf({ from, to }: EdgeKey): (typeof EDGE_TABLES)[number] {
  const touchesCapability = kindOf(from) === 'capability' || kindOf(to) === 'capability';
  return touchesCapability ? 'capability_dependency' : 'tool_dependency';
}

const EDGE_KEY = ['from_node', 'to_node', 'edge_type'] as const;

type EdgeTable = 'tool_dependency' | 'capability_dependency' | 'rollup_edge';
type StatisticsTable = 'node_statistics' | 'rollup_statistics';

/** Adds or replaces by (from, to, type). */
export async function putEdges(tx: Tx, table: EdgeTable, edges: readonly GraphEdge[]): Promise<void> {
  const rows = edges.map(toEdgeRow);
  for (const values of batches(lastOfEach(rows, (row) => JSON.stringify(EDGE_KEY.map((c) => row[c]))))) {
    await tx
      .insertInto(table)
      .values(values)
      .onConflict((c) =>
        c.columns(EDGE_KEY).doUpdateSet(({ ref }) => ({
          edge_source: ref('excluded.edge_source'),
          observed_count: ref('excluded.observed_count'),
          invocation_count: ref('excluded.invocation_count'),
          last_seen_at: ref('excluded.last_seen_at'),
          value_paths: ref('excluded.value_paths'),
        })),
      )
      .execute();
  }
}

/** Adds or replaces by node. */
export async function putStatistics(
  tx: Tx,
  table: StatisticsTable,
  statistics: readonly NodeStatistics[],
): Promise<void> {
  for (const values of batches(lastOfEach(statistics.map(toStatisticsRow), ({ node }) => node))) {
    await tx
      .insertInto(table)
      .values(values)
      .onConflict((c) =>
        c.column('node').doUpdateSet(({ ref }) => ({
          runs: ref('excluded.runs'),
          calls: ref('excluded.calls'),
          failures: ref('excluded.failures'),
          repeats: ref('excluded.repeats'),
          repeat_runs: ref('excluded.repeat_runs'),
          last_seen_at: ref('excluded.last_seen_at'),
        })),
      )
      .execute();
  }
}

/** One statement cannot write a row twice, so the last value of each key is kept. */
function lastOfEach<T>(rows: readonly T[], key: (row: T) => string): T[] {
  return [...new Map(rows.map((row) => [key(row), row])).values()];
}

function* batches<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += DEFAULTS.batch) yield rows.slice(at, at + DEFAULTS.batch);
}

function toEdgeRow(edge: GraphEdge) {
  return {
    from_node: text(edge.from),
    to_node: text(edge.to),
    edge_type: edge.type,
    edge_source: edge.source,
    observed_count: edge.observedCount,
    invocation_count: edge.invocationCount,
    last_seen_at: edge.lastSeenAt,
    value_paths: json(edge.valuePaths),
  };
}

export function toEdge(row: Selectable<Database[EdgeTable]>): GraphEdge {
  return {
    from: row.from_node as NodeId,
    to: row.to_node as NodeId,
    type: row.edge_type as EdgeType,
    source: row.edge_source as EdgeSource,
    observedCount: row.observed_count,
    invocationCount: row.invocation_count,
    lastSeenAt: row.last_seen_at,
    valuePaths: row.value_paths as ValuePath[],
  };
}

function toStatisticsRow({ node, repeatRuns, lastSeenAt, ...counts }: NodeStatistics) {
  const { runs, calls, failures, repeats } = counts;
  return {
    node: text(node),
    runs,
    calls,
    failures,
    repeats,
    repeat_runs: repeatRuns,
    last_seen_at: lastSeenAt,
  };
}

export function toStatistics(row: Selectable<Database['node_statistics']>): NodeStatistics {
  const { runs, calls, failures, repeats } = row;
  return {
    node: row.node as NodeId,
    runs,
    calls,
    failures,
    repeats,
    repeatRuns: row.repeat_runs,
    lastSeenAt: row.last_seen_at,
  };
}
