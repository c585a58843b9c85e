import { type Kysely, sql, type Transaction } from 'kysely';
import type { ExecutionTrace } from '../../../core/vocabulary/execution-trace.ts';
import type { TraceStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { createIntentIndex } from '../pgvector/intent-index.ts';
import { guarded, json, text, vectorsToBytes, vectorToBytes } from './codec.ts';
import { forgetRuns, unfinishedRuns } from './runs.ts';
import {
  isStoredAsGiven,
  nameToLookUp,
  RECALLED,
  recalledFromRow,
  traceConditions,
  traceFromRow,
  traceToRow,
  type WantedTraces,
} from './trace-row.ts';

const DEFAULTS = {
  /** Share of new traces after which the boundary is computed again. */
  share: 0.02,
  /** The same in milliseconds: other gateways may have deleted traces. */
  forMs: 60_000,
  /** Traces that are kept between two reads in order, and events of one of them, at most. */
  fresh: 1_000,
  freshEvents: 50,
};

interface ListOrder {
  readonly before: string | undefined;
  readonly byTime: boolean | undefined;
}

/** The boundary between the newest runs with an intent, which are in memory, and the older ones. */
interface RecallBoundary {
  /**
   * Sequence number of a trace older than the newest `beyond`: that of the next one, or an earlier one; below
   * all numbers if there are no more than `beyond`.
   */
  behind(beyond: number): Promise<number>;
  /** Traces were deleted: the cached boundary is invalid. */
  forget(): void;
}

/**
 * Traces stored by this process a moment ago. Who stores them follows their order next, to learn from them, and reading
 * them back costs the database and the main thread as much as storing them.
 */
interface FreshTraces {
  add(traces: readonly ExecutionTrace[]): void;
  embedded(id: string, model: string, vector: Float32Array): void;
  /** They were changed or deleted. */
  forget(ids: readonly string[]): void;
  /** The traces with these ids, which are not kept any longer; null unless all are known. */
  take(ids: readonly string[]): ExecutionTrace[] | null;
}

export function sqlTraces(db: Kysely<Database>): TraceStore {
  /** A deleted or unknown trace sets no bound. */
  const seqOf = (id: string) => sql<number>`(select seq from trace_key where id = ${id})`;
  /** Selects the trace's monthly partition. */
  const momentOf = (id: string) => sql<Date>`(select executed_at from trace_key where id = ${id})`;
  const months = new Set<string>();
  const intents = createIntentIndex(db);
  const boundary = recallBoundary(db);
  const fresh = freshTraces();

  /** Creates the monthly partitions before their first trace. */
  async function ensureMonths(traces: readonly { readonly executedAt: Date }[]): Promise<void> {
    for (const month of new Set(traces.map(({ executedAt }) => monthOf(executedAt)))) {
      if (months.has(month)) continue;
      await sql`select ensure_trace_month(${month}::timestamptz)`.execute(db);
      months.add(month);
    }
  }

  async function newest(limit: number, { before, byTime }: ListOrder, wanted: WantedTraces) {
    let query = db.selectFrom('execution_trace').selectAll().limit(limit);
    if (byTime) query = query.orderBy('executed_at', 'desc');
    query = query.orderBy('seq', 'desc');
    if (before !== undefined && !byTime) query = query.where('seq', '<', seqOf(before));
    if (before !== undefined && byTime)
      query = query
        // By itself, this also leaves out later months.
        .where('executed_at', '<=', momentOf(before))
        .where(sql<boolean>`(executed_at, seq) < (${momentOf(before)}, ${seqOf(before)})`);
    for (const condition of traceConditions(wanted)) query = query.where(condition);
    return await query.execute();
  }

  /** Reads only traces with this name in their path, newest first, until there are enough. */
  async function newestWith(
    name: string,
    limit: number,
    { before, byTime }: ListOrder,
    wanted: WantedTraces,
  ) {
    let query = db
      .selectFrom('trace_use as used')
      .innerJoinLateral(
        ({ selectFrom }) => {
          let trace = selectFrom('execution_trace')
            .selectAll()
            .whereRef('execution_trace.seq', '=', 'used.trace')
            .whereRef('execution_trace.executed_at', '=', 'used.executed_at');
          for (const condition of traceConditions(wanted)) trace = trace.where(condition);
          // There is at most one; the limit makes the planner look it up for each use.
          return trace.limit(1).as('trace');
        },
        (join) => join.onTrue(),
      )
      .selectAll('trace')
      .where('used.name', '=', sql<number>`name_key(${text(name)})`)
      .limit(limit);
    // The key has the order of time.
    if (byTime) query = query.orderBy('used.executed_at', 'desc');
    query = query.orderBy('used.trace', 'desc');
    if (before !== undefined && !byTime) query = query.where('used.trace', '<', seqOf(before));
    if (before !== undefined && byTime)
      query = query.where(
        sql<boolean>`(used.executed_at, used.trace) < (${momentOf(before)}, ${seqOf(before)})`,
      );
    return await query.execute();
  }

  return {
    append: (trace) =>
      guarded(`Storing trace ${trace.id}`, async () => {
        await ensureMonths([trace]);
        await db.insertInto('execution_trace').values(traceToRow(trace)).execute();
        fresh.add([trace]);
      }),

    appendAll: (traces) =>
      guarded(`Storing ${traces.length} traces`, async () => {
        if (traces.length === 0) return;
        await ensureMonths(traces);
        await db.insertInto('execution_trace').values(traces.map(traceToRow)).execute();
        fresh.add(traces);
      }),

    get: (id) =>
      guarded(`Reading trace ${id}`, async () => {
        const row = await db
          .selectFrom('execution_trace')
          .selectAll()
          .where('id', '=', text(id))
          .where('executed_at', '=', momentOf(text(id)))
          .executeTakeFirst();
        return row ? traceFromRow(row) : null;
      }),

    list: ({ limit, before, byTime, ...wanted }) =>
      guarded('Listing traces', async () => {
        const name = nameToLookUp(wanted);
        const order = { before, byTime };
        const rows = name === null ? newest(limit, order, wanted) : newestWith(name, limit, order, wanted);
        return (await rows).map(traceFromRow);
      }),

    scan: (cursor, limit) =>
      guarded('Reading traces in order', async () => {
        const after = db.selectFrom('execution_trace').where('seq', '>', cursor).orderBy('seq').limit(limit);
        const keys = await after.select(['id', 'seq']).execute();
        const known = fresh.take(keys.map(({ id }) => id));
        if (known) return { traces: known, cursor: keys.at(-1)?.seq ?? cursor };
        const rows = await after.selectAll().execute();
        return { traces: rows.map(traceFromRow), cursor: rows.at(-1)?.seq ?? cursor };
      }),

    count: () =>
      guarded('Counting traces', async () => {
        const tally = db.selectFrom('tally').select('count').where('name', '=', 'traces');
        return (await tally.executeTakeFirstOrThrow()).count;
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

    judge: (id, verdict) =>
      guarded(`Storing the verdict on trace ${id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('execution_trace')
          .set({ verdict: json(verdict) })
          .where('id', '=', text(id))
          .where('executed_at', '=', momentOf(text(id)))
          .executeTakeFirst();
        fresh.forget([id]);
        return numUpdatedRows > 0n;
      }),

    setPriorities: (priorities) =>
      guarded('Storing replay priorities', () =>
        db.transaction().execute(async (tx) => {
          for (const [id, priority] of priorities) {
            await tx
              .updateTable('execution_trace')
              .set({ priority })
              .where('id', '=', text(id))
              .where('executed_at', '=', momentOf(text(id)))
              .execute();
          }
          fresh.forget([...priorities.keys()]);
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
          .where('id', '=', text(id))
          .where('executed_at', '=', momentOf(text(id)))
          .execute();
        fresh.embedded(id, model, vector);
        await intents.note(id, model, vector);
      }),

    recall: (model, limit) =>
      guarded('Reading past runs', async () => {
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
      guarded('Reading similar runs', async () => {
        const ids = await intents.nearest(model, intent, limit, beyond);
        if (!ids || ids.length === 0) return [];
        const rows = await db
          .selectFrom('execution_trace')
          .select(RECALLED)
          .where('id', 'in', ids)
          .where('seq', '<=', await boundary.behind(beyond))
          .execute();
        return rows.map((row) => recalledFromRow(row, model));
      }),

    remove: (ids, also) =>
      guarded('Deleting traces', () =>
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
          boundary.forget();
          fresh.forget(going);
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

function freshTraces(): FreshTraces {
  const known = new Map<string, ExecutionTrace>();
  let unread = 0;
  const forget = (ids: readonly string[]) => {
    for (const id of ids) known.delete(id);
  };
  return {
    add(traces) {
      unread += traces.length;
      // Nobody follows, or is far behind.
      if (unread > DEFAULTS.fresh) return known.clear();
      for (const trace of traces)
        if (trace.events.length <= DEFAULTS.freshEvents && isStoredAsGiven(trace)) known.set(trace.id, trace);
    },
    embedded(id, embeddingModel, intentEmbedding) {
      const trace = known.get(id);
      if (trace) known.set(id, { ...trace, intentEmbedding, embeddingModel });
    },
    forget,
    take(ids) {
      unread = 0;
      const traces = ids.flatMap((id) => known.get(id) ?? []);
      forget(ids);
      return traces.length === ids.length ? traces : null;
    },
  };
}

/** The month (UTC) as its first instant. */
function monthOf(at: Date): string {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth())).toISOString();
}

/**
 * Counting thousands of index entries takes as long as the rest of the query. New traces only move the
 * boundary forward, so a cached one stays usable for a while.
 */
function recallBoundary(db: Kysely<Database>): RecallBoundary {
  let known: { beyond: number; seq: number; last: number; at: number } | null = null;
  return {
    async behind(beyond) {
      const last = await lastNumber(db);
      const isFresh =
        known?.beyond === beyond &&
        last - known.last <= DEFAULTS.share * beyond &&
        performance.now() - known.at < DEFAULTS.forMs;
      if (known && isFresh) return known.seq;
      const row = await db
        .selectFrom('execution_trace')
        .select('seq')
        .where('intent_text', 'is not', null)
        .orderBy('seq', 'desc')
        .offset(beyond)
        .limit(1)
        .executeTakeFirst();
      const seq = row?.seq ?? -1;
      known = { beyond, seq, last, at: performance.now() };
      return seq;
    },
    forget() {
      known = null;
    },
  };
}

/** The last sequence number assigned to any trace, committed or not. */
async function lastNumber(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select last_value as last from execution_trace_seq_seq`.execute(db);
  return rows[0]!.last;
}
