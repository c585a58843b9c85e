import type { Selectable, Transaction } from 'kysely';
import type { GraphEdge, NodeStatistics, ValuePath } from '../../../core/graph/graph-edge.ts';
import type { EdgeSource, EdgeType } from '../../../core/vocabulary/edge.ts';
import type { NodeId } from '../../../core/vocabulary/ids.ts';
import type { Database } from '../database.ts';
import { json, text } from './codec.ts';

const DEFAULTS = {
  /** Rows per statement; PostgreSQL allows 65,535 parameters. */
  batch: 500,
};

export const EDGE_KEY = ['from_node', 'to_node', 'edge_type'] as const;

type EdgeTable = 'tool_dependency' | 'capability_dependency' | 'rollup_edge';
type StatisticsTable = 'node_statistics' | 'rollup_statistics';
type Tx = Transaction<Database>;

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

export function* batches<T>(rows: readonly T[]): Generator<T[]> {
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
