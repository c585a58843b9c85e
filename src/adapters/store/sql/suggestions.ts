import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Plan } from '../../../core/vocabulary/plan.ts';
import type {
  EpisodicStore,
  RankerParamsStore,
  StoredSuggestion,
  SuggestionOutcome,
  SuggestionStore,
} from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

/** Must be identical to an index's expression. */
const IS_DOUBTED = sql<boolean>`json_array_length(outcome -> 'left') > 0`;

export function sqlSuggestions(db: Kysely<Database>): SuggestionStore {
  return {
    put: (suggestion) =>
      guarded(`Storing suggestion ${suggestion.id}`, async () => {
        await db.insertInto('suggestion').values(toRow(suggestion)).execute();
      }),

    get: (id) =>
      guarded(`Reading suggestion ${id}`, async () => {
        const row = await db
          .selectFrom('suggestion')
          .selectAll()
          .where('id', '=', text(id))
          .executeTakeFirst();
        return row ? fromRow(row) : null;
      }),

    settle: (id, outcome) =>
      guarded(`Settling suggestion ${id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('suggestion')
          .set(outcomeColumns(outcome))
          .where('id', '=', text(id))
          .where('verdict', 'is', null)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),

    open: (sessionId, limit) =>
      guarded('Listing open suggestions', async () => {
        const rows = await db
          .selectFrom('suggestion')
          .selectAll()
          .where('session_id', '=', text(sessionId))
          .where('verdict', 'is', null)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map(fromRow);
      }),

    doubted: (limit) =>
      guarded('Listing suggestions that were changed', async () => {
        const rows = await db
          .selectFrom('suggestion')
          .selectAll()
          .where(IS_DOUBTED)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map(fromRow);
      }),

    counts: () =>
      guarded('Counting suggestions', async () => {
        const rows = await db.selectFrom('tally').selectAll().where('name', 'like', 'suggestions%').execute();
        const of = (name: string) => rows.find((row) => row.name === name)?.count ?? 0;
        return {
          made: of('suggestions'),
          accepted: of('suggestions accepted'),
          edited: of('suggestions edited'),
          rejected: of('suggestions rejected'),
        };
      }),

    expire: (before, doubted) =>
      guarded('Removing expired suggestions', () =>
        db.transaction().execute(async (tx) => {
          const gone = await tx
            .deleteFrom('suggestion')
            .where('created_at', '<', before)
            .where('seq', 'not in', (eb) =>
              eb
                .selectFrom('suggestion')
                .select('seq')
                .where(IS_DOUBTED)
                .orderBy('seq', 'desc')
                .limit(doubted),
            )
            .returning('verdict')
            .execute();
          await tallyAgain(
            tx,
            gone.map(({ verdict }) => verdict),
          );
          return gone.length;
        }),
      ),
  };
}

/** Deleted suggestions still count in the statistics. */
async function tallyAgain(tx: Transaction<Database>, verdicts: readonly (string | null)[]): Promise<void> {
  const names = verdicts.flatMap((verdict) => [
    'suggestions',
    ...(verdict === null ? [] : [`suggestions ${verdict}`]),
  ]);
  for (const [name, { length }] of Map.groupBy(names, (each) => each)) {
    await tx
      .updateTable('tally')
      .set((eb) => ({ count: eb('count', '+', length) }))
      .where('name', '=', name)
      .execute();
  }
}

function toRow(suggestion: StoredSuggestion) {
  return {
    id: suggestion.id,
    session_id: textOrNull(suggestion.sessionId),
    intent_text: text(suggestion.intentText),
    plan: json(suggestion.plan),
    confidence: suggestion.confidence,
    created_at: suggestion.createdAt,
    ...(suggestion.outcome && outcomeColumns(suggestion.outcome)),
  };
}

function outcomeColumns({ verdict, runId, ...changes }: SuggestionOutcome) {
  return { verdict, run_id: runId, outcome: json({ ...changes, at: changes.at.toISOString() }) };
}

function fromRow(row: Selectable<Database['suggestion']>): StoredSuggestion {
  const outcome = row.outcome as (Omit<SuggestionOutcome, 'at'> & { at: string }) | null;
  return {
    id: row.id,
    sessionId: row.session_id,
    intentText: row.intent_text,
    plan: row.plan as Plan,
    confidence: row.confidence,
    createdAt: row.created_at,
    outcome:
      row.verdict === null || outcome === null
        ? null
        : {
            verdict: row.verdict as SuggestionOutcome['verdict'],
            runId: row.run_id,
            left: outcome.left,
            came: outcome.came,
            moved: outcome.moved,
            at: new Date(outcome.at),
          },
  };
}

export function sqlRankerParams(db: Kysely<Database>): RankerParamsStore {
  return {
    save: (params) =>
      guarded('Storing ranker parameters', async () => {
        await db
          .insertInto('ranker_params')
          .values({
            id: params.id,
            model: params.model,
            params: params.bytes,
            metrics: json(params.metrics),
            created_at: params.createdAt,
          })
          .execute();
      }),

    list: (model, limit) =>
      guarded('Listing ranker parameters', async () => {
        const rows = await db
          .selectFrom('ranker_params')
          .selectAll()
          .where('model', '=', model)
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map((row) => ({
          id: row.id,
          model: row.model,
          // `pg` returns a Buffer on a shared pool; callers get their own bytes.
          bytes: new Uint8Array(row.params),
          metrics: row.metrics as Record<string, unknown>,
          createdAt: row.created_at,
        }));
      }),

    remove: (id) =>
      guarded(`Removing ranker parameters ${id}`, async () => {
        const { numDeletedRows } = await db
          .deleteFrom('ranker_params')
          .where('id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
  };
}

export function sqlEpisodes(db: Kysely<Database>): EpisodicStore {
  return {
    append: (events) =>
      guarded('Storing episodic events', async () => {
        if (events.length === 0) return;
        await db
          .insertInto('episodic_events')
          .values(
            events.map((event) => ({
              id: event.id,
              workflow_id: event.workflowId,
              event_type: event.eventType,
              task_id: textOrNull(event.taskId),
              timestamp: event.timestamp,
              data: json(event.data),
            })),
          )
          .execute();
      }),

    list: (workflowId) =>
      guarded(`Listing events of ${workflowId}`, async () => {
        const rows = await db
          .selectFrom('episodic_events')
          .selectAll()
          .where('workflow_id', '=', text(workflowId))
          .orderBy('seq')
          .execute();
        return rows.map((row) => ({
          id: row.id,
          workflowId: row.workflow_id,
          eventType: row.event_type,
          taskId: row.task_id,
          timestamp: row.timestamp,
          data: row.data as Record<string, unknown>,
        }));
      }),
  };
}
