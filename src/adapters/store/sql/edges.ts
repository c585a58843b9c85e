import type { Kysely, Selectable, Transaction } from 'kysely';
import { compareEdges, type Edge, type EdgeSource, type EdgeType } from '../../../core/vocabulary/edge.ts';
import { kindOf, type NodeId } from '../../../core/vocabulary/ids.ts';
import type { EdgeStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded } from './codec.ts';

/** An edge that touches a capability lives in `capability_dependency`, all others in `tool_dependency`. */
const TABLES = ['tool_dependency', 'capability_dependency'] as const;

export function sqlEdges(db: Kysely<Database>): EdgeStore {
  return {
    put: (edges) => guarded('Storing edges', () => db.transaction().execute((tx) => putAll(tx, edges))),

    list: () =>
      guarded('Listing edges', async () => {
        const tables = await Promise.all(TABLES.map((table) => db.selectFrom(table).selectAll().execute()));
        return tables.flat().map(fromRow).sort(compareEdges);
      }),

    replaceAll: (edges) =>
      guarded('Replacing the graph', () =>
        db.transaction().execute(async (tx) => {
          for (const table of TABLES) await tx.deleteFrom(table).execute();
          await putAll(tx, edges);
        }),
      ),
  };
}

async function putAll(tx: Transaction<Database>, edges: readonly Edge[]): Promise<void> {
  for (const edge of edges) {
    const counts = {
      edge_source: edge.source,
      observed_count: edge.observedCount,
      invocation_count: edge.invocationCount,
    };
    await tx
      .insertInto(tableOf(edge))
      .values({ from_node: edge.from, to_node: edge.to, edge_type: edge.type, ...counts })
      .onConflict((c) => c.columns(['from_node', 'to_node', 'edge_type']).doUpdateSet(counts))
      .execute();
  }
}

function tableOf(edge: Edge): (typeof TABLES)[number] {
  const touchesCapability = kindOf(edge.from) === 'capability' || kindOf(edge.to) === 'capability';
  return touchesCapability ? 'capability_dependency' : 'tool_dependency';
}

function fromRow(row: Selectable<Database['tool_dependency']>): Edge {
  return {
    from: row.from_node as NodeId,
    to: row.to_node as NodeId,
    type: row.edge_type as EdgeType,
    source: row.edge_source as EdgeSource,
    observedCount: row.observed_count,
    invocationCount: row.invocation_count,
  };
}
