import type { Kysely } from 'kysely';
import type { EpisodicStore, RankerParamsStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

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
