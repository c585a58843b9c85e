import type { Kysely, Transaction } from 'kysely';
import { compareEdges } from '../../../core/vocabulary/edge.ts';
import { kindOf } from '../../../core/vocabulary/ids.ts';
import type { EdgeKey, GraphPosition, GraphStore, StoredGraph } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, text } from './codec.ts';
import { batches, EDGE_KEY, putEdges, putStatistics, toEdge, toStatistics } from './graph-rows.ts';

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
