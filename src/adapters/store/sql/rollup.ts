import { type Kysely, sql } from 'kysely';
import type { RollupStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded } from './codec.ts';
import { putEdges, putStatistics, toEdge, toStatistics } from './graph.ts';
import { endRuns, withoutTraces } from './runs.ts';
import { traceFromRow } from './trace-row.ts';

export function sqlRollup(db: Kysely<Database>): RollupStore {
  return {
    read: () =>
      guarded('Reading the roll-up', () =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (tx) => {
            const { traces } = await tx.selectFrom('rollup_state').select('traces').executeTakeFirstOrThrow();
            const edges = await tx.selectFrom('rollup_edge').selectAll().execute();
            const statistics = await tx.selectFrom('rollup_statistics').selectAll().execute();
            return { traces, edges: edges.map(toEdge), statistics: statistics.map(toStatistics) };
          }),
      ),

    traces: () =>
      guarded('Reading the roll-up', async () => {
        const state = db.selectFrom('rollup_state').select('traces');
        return (await state.executeTakeFirstOrThrow()).traces;
      }),

    due: (before, limit) =>
      guarded('Reading expired traces', async () => {
        const rows = await db
          .selectFrom('execution_trace')
          .selectAll()
          .where('executed_at', '<', before)
          .where('seq', '<=', (eb) => eb.selectFrom('graph_state').select('cursor'))
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('workflow_run')
                  .select('workflow_run.id')
                  .whereRef('workflow_run.id', '=', 'execution_trace.run_id')
                  .where('status', 'in', ['running', 'paused']),
              ),
            ),
          )
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('approval')
                  .select('approval.id')
                  .whereRef('approval.run_id', '=', 'execution_trace.run_id')
                  .where('state', '=', 'pending'),
              ),
            ),
          )
          .orderBy('seq')
          .limit(limit)
          .execute();
        return rows.map(traceFromRow);
      }),

    fold: ({ from, ids, edges, statistics }) =>
      guarded('Rolling up traces', () =>
        db.transaction().execute(async (tx) => {
          const state = tx.selectFrom('rollup_state').select('traces').forUpdate();
          if ((await state.executeTakeFirstOrThrow()).traces !== from) return false;
          await putEdges(tx, 'rollup_edge', edges);
          await putStatistics(tx, 'rollup_statistics', statistics);
          const gone = await tx
            .deleteFrom('execution_trace')
            .where('id', 'in', [...ids])
            .returning('run_id')
            .execute();
          await endRuns(tx, await withoutTraces(tx, [...new Set(gone.map(({ run_id }) => run_id))]));
          await tx
            .updateTable('rollup_state')
            .set({ traces: from + ids.length })
            .execute();
          return true;
        }),
      ),

    tidy: (before) =>
      guarded('Freeing the space of old traces', async () => {
        await sql`select drop_trace_months(${before})`.execute(db);
      }),
  };
}
