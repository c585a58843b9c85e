import type { Kysely } from 'kysely';
import type { EpisodicStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

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
