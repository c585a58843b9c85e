import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import {
  type ExecutionTrace,
  guestFromWire,
  guestToWire,
  invocationFromWire,
  invocationToWire,
  type WireGuest,
  type WireInvocation,
} from '../../../core/vocabulary/execution-trace.ts';
import type { NodeId } from '../../../core/vocabulary/ids.ts';
import type { Visibility } from '../../../core/vocabulary/principal.ts';
import {
  type ErrorType,
  fromWire,
  toWire,
  type WireTraceEvent,
} from '../../../core/vocabulary/trace-event.ts';
import type { RecalledRun, TraceStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import {
  bytesToVector,
  bytesToVectors,
  guarded,
  json,
  text,
  textOrNull,
  vectorsToBytes,
  vectorToBytes,
} from './codec.ts';
import { forgetRuns, unfinishedRuns } from './forget-runs.ts';
import { traceConditions } from './trace-conditions.ts';

export function sqlTraces(db: Kysely<Database>): TraceStore {
  /** A trace that is not there (any more) bounds nothing. */
  const seqOf = (id: string) => sql<number>`(select seq from execution_trace where id = ${id})`;

  return {
    append: (trace) =>
      guarded(`Storing trace ${trace.id}`, async () => {
        await db.insertInto('execution_trace').values(toRow(trace)).execute();
      }),

    appendAll: (traces) =>
      guarded(`Storing ${traces.length} traces`, async () => {
        if (traces.length === 0) return;
        await db.insertInto('execution_trace').values(traces.map(toRow)).execute();
      }),

    get: (id) =>
      guarded(`Reading trace ${id}`, async () => {
        const row = await db
          .selectFrom('execution_trace')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirst();
        return row ? fromRow(row) : null;
      }),

    list: ({ limit, before, ...wanted }) =>
      guarded('Listing traces', async () => {
        let query = db.selectFrom('execution_trace').selectAll().orderBy('seq', 'desc').limit(limit);
        if (before !== undefined) query = query.where('seq', '<', seqOf(before));
        for (const condition of traceConditions(wanted)) query = query.where(condition);
        return (await query.execute()).map(fromRow);
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
        return { traces: rows.map(fromRow), cursor: rows.at(-1)?.seq ?? cursor };
      }),

    count: () =>
      guarded('Counting traces', async () => {
        const { count } = await db
          .selectFrom('execution_trace')
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
            await tx.updateTable('execution_trace').set({ priority }).where('id', '=', id).execute();
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
          .execute();
      }),

    recall: (model, limit) =>
      guarded('Recalling past runs', async () => {
        const rows = await db
          .selectFrom('execution_trace')
          .select([
            'id',
            'run_id',
            'session_id',
            'intent_text',
            'intent_embedding',
            'clause_embeddings',
            'embedding_model',
            'executed_path',
            'tool_invocations',
            'success',
            'visibility',
          ])
          .where('intent_text', 'is not', null)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.reverse().map((row): RecalledRun => {
          const isKnown = row.embedding_model === model && row.intent_embedding !== null;
          const intent = isKnown ? bytesToVector(row.intent_embedding!) : null;
          return {
            id: row.id,
            runId: row.run_id,
            sessionId: row.session_id,
            intentText: row.intent_text!,
            intent,
            clauses:
              intent && row.clause_embeddings ? bytesToVectors(row.clause_embeddings, intent.length) : null,
            executedPath: row.executed_path as NodeId[],
            toolInvocations: (row.tool_invocations as WireInvocation[]).map(invocationFromWire),
            success: row.success,
            visibility: row.visibility as Visibility,
          };
        });
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

function toRow(trace: ExecutionTrace) {
  return {
    id: trace.id,
    run_id: trace.runId,
    session_id: textOrNull(trace.sessionId),
    capability_id: trace.capabilityId,
    intent_text: textOrNull(trace.intentText),
    intent_embedding: trace.intentEmbedding ? vectorToBytes(trace.intentEmbedding) : null,
    embedding_model: trace.embeddingModel,
    executed_at: trace.executedAt,
    success: trace.success,
    duration_ms: trace.durationMs,
    error_message: textOrNull(trace.errorMessage),
    error_type: trace.errorType,
    executed_path: trace.executedPath.map(text),
    tool_invocations: json(trace.toolInvocations.map(invocationToWire)),
    decisions: json(trace.decisions),
    task_results: json(trace.taskResults),
    priority: trace.priority,
    events: json(trace.events.map(toWire)),
    code_snippet: textOrNull(trace.code),
    guest: json(trace.guest && guestToWire(trace.guest)),
    owner: textOrNull(trace.owner),
    visibility: trace.visibility,
  };
}

function fromRow(row: Selectable<Database['execution_trace']>): ExecutionTrace {
  return {
    id: row.id,
    runId: row.run_id,
    sessionId: row.session_id,
    capabilityId: row.capability_id,
    intentText: row.intent_text,
    intentEmbedding: row.intent_embedding ? bytesToVector(row.intent_embedding) : null,
    embeddingModel: row.embedding_model,
    executedAt: row.executed_at,
    success: row.success,
    durationMs: row.duration_ms,
    errorMessage: row.error_message,
    errorType: row.error_type as ErrorType | null,
    executedPath: row.executed_path as NodeId[],
    toolInvocations: (row.tool_invocations as WireInvocation[]).map(invocationFromWire),
    decisions: row.decisions as unknown[],
    taskResults: row.task_results as unknown[],
    priority: row.priority,
    events: (row.events as WireTraceEvent[]).map(fromWire),
    code: row.code_snippet,
    guest: row.guest === null ? null : guestFromWire(row.guest as WireGuest),
    owner: row.owner,
    visibility: row.visibility as Visibility,
  };
}
