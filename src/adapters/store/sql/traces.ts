import { type Kysely, sql, type Transaction } from 'kysely';
import type { TraceStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { createIntentIndex } from '../pgvector/intent-index.ts';
import { guarded, vectorsToBytes, vectorToBytes } from './codec.ts';
import { forgetRuns, unfinishedRuns } from './forget-runs.ts';
import { traceConditions } from './trace-conditions.ts';
import { RECALLED, recalledFromRow, traceFromRow, traceToRow } from './trace-row.ts';

export function sqlTraces(db: Kysely<Database>): TraceStore {
  /** A trace that is not there (any more) bounds nothing. */
  const seqOf = (id: string) => sql<number>`(select seq from trace_key where id = ${id})`;
  /** Leads to the one month it is in. */
  const momentOf = (id: string) => sql<Date>`(select executed_at from trace_key where id = ${id})`;
  const months = new Set<string>();
  const intents = createIntentIndex(db);

  /** A month's table is there before its first trace comes. */
  async function ensureMonths(traces: readonly { readonly executedAt: Date }[]): Promise<void> {
    for (const month of new Set(traces.map(({ executedAt }) => monthOf(executedAt)))) {
      if (months.has(month)) continue;
      await sql`select ensure_trace_month(${month}::timestamptz)`.execute(db);
      months.add(month);
    }
  }

  return {
    append: (trace) =>
      guarded(`Storing trace ${trace.id}`, async () => {
        await ensureMonths([trace]);
        await db.insertInto('execution_trace').values(traceToRow(trace)).execute();
      }),

    appendAll: (traces) =>
      guarded(`Storing ${traces.length} traces`, async () => {
        if (traces.length === 0) return;
        await ensureMonths(traces);
        await db.insertInto('execution_trace').values(traces.map(traceToRow)).execute();
      }),

    get: (id) =>
      guarded(`Reading trace ${id}`, async () => {
        const row = await db
          .selectFrom('execution_trace')
          .selectAll()
          .where('id', '=', id)
          .where('executed_at', '=', momentOf(id))
          .executeTakeFirst();
        return row ? traceFromRow(row) : null;
      }),

    list: ({ limit, before, ...wanted }) =>
      guarded('Listing traces', async () => {
        let query = db.selectFrom('execution_trace').selectAll().orderBy('seq', 'desc').limit(limit);
        if (before !== undefined) query = query.where('seq', '<', seqOf(before));
        for (const condition of traceConditions(wanted)) query = query.where(condition);
        return (await query.execute()).map(traceFromRow);
      }),

    scan: (cursor, limit) =>
      guarded('Reading traces in order', async () => {
        const rows = await db
          .selectFrom('execution_trace')
          .selectAll()
          .where('seq', '>', cursor)
          .orderBy('seq')
          .limit(limit)
          .execute();
        return { traces: rows.map(traceFromRow), cursor: rows.at(-1)?.seq ?? cursor };
      }),

    count: () =>
      guarded('Counting traces', async () => {
        const { count } = await db
          .selectFrom('trace_key')
          .select((e) => e.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow();
        return count;
      }),

    tally: (since) =>
      guarded('Counting the runs of each hour', async () => {
        const hour = sql<Date>`date_trunc('hour', executed_at, 'UTC')`;
        const rows = await db
          .selectFrom('execution_trace')
          .select((e) => [
            hour.as('hour'),
            e.fn.countAll<number>().as('runs'),
            e.fn.countAll<number>().filterWhere('success', '=', true).as('successes'),
          ])
          .where('executed_at', '>=', since)
          .groupBy(hour)
          .orderBy(hour)
          .execute();
        return rows.map((row) => ({ ...row, runs: Number(row.runs), successes: Number(row.successes) }));
      }),

    setPriorities: (priorities) =>
      guarded('Storing replay priorities', () =>
        db.transaction().execute(async (tx) => {
          for (const [id, priority] of priorities) {
            await tx
              .updateTable('execution_trace')
              .set({ priority })
              .where('id', '=', id)
              .where('executed_at', '=', momentOf(id))
              .execute();
          }
        }),
      ),

    setIntentEmbedding: (id, model, vector, clauses = []) =>
      guarded(`Storing the intent's embedding of trace ${id}`, async () => {
        await db
          .updateTable('execution_trace')
          .set({
            intent_embedding: vectorToBytes(vector),
            clause_embeddings: vectorsToBytes(clauses),
            embedding_model: model,
          })
          .where('id', '=', id)
          .where('executed_at', '=', momentOf(id))
          .execute();
        await intents.note(id, model, vector);
      }),

    recall: (model, limit) =>
      guarded('Recalling past runs', async () => {
        const rows = await db
          .selectFrom('execution_trace')
          .select(RECALLED)
          .where('intent_text', 'is not', null)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.reverse().map((row) => recalledFromRow(row, model));
      }),

    near: (model, intent, limit, beyond) =>
      guarded('Recalling runs like this one', async () => {
        const ids = await intents.nearest(model, intent, limit, beyond);
        if (!ids || ids.length === 0) return [];
        const newest = sql<number>`
          (select seq from execution_trace where intent_text is not null order by seq desc offset ${beyond} limit 1)`;
        const rows = await db
          .selectFrom('execution_trace')
          .select(RECALLED)
          .where('id', 'in', ids)
          .where('seq', '<=', newest)
          .execute();
        return rows.map((row) => recalledFromRow(row, model));
      }),

    remove: (ids, also) =>
      guarded('Forgetting traces', () =>
        db.transaction().execute(async (tx) => {
          if (ids.length === 0) return { traces: 0, unfinishedRuns: [] };
          const chosen = await tx
            .selectFrom('execution_trace')
            .select(['id', 'run_id'])
            .where('id', 'in', [...ids])
            .execute();
          const runIds = new Set(chosen.map((row) => row.run_id));
          const spared = new Set(also?.unfinishedRuns ? [] : await unfinishedRuns(tx, [...runIds]));
          const going = chosen.filter((row) => !spared.has(row.run_id)).map(({ id }) => id);
          await forgetRuns(tx, [...runIds.difference(spared)]);
          return { traces: await removeTraces(tx, going), unfinishedRuns: [...spared] };
        }),
      ),
  };
}

async function removeTraces(tx: Transaction<Database>, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const removed = await tx.deleteFrom('execution_trace').where('id', 'in', ids).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/** Of UTC, as its first moment. */
function monthOf(at: Date): string {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth())).toISOString();
}
