import type { Kysely, Selectable } from 'kysely';
import type { Plan } from '../../../core/vocabulary/plan.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { WorkflowRun, WorkflowRunStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, textOrNull } from './codec.ts';

export function sqlRuns(db: Kysely<Database>): WorkflowRunStore {
  return {
    create: (run) =>
      guarded(`Storing run ${run.id}`, async () => {
        await db.insertInto('workflow_run').values(toRow(run)).execute();
      }),

    update: (run) =>
      guarded(`Storing run ${run.id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('workflow_run')
          .set(toRow(run))
          .where('id', '=', run.id)
          .where('version', '=', run.version - 1)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) {
          throw new PmlError('store_conflict', `Run ${run.id} was changed by another process`, {
            hint: 'Read the run again and apply the change to what it is now.',
          });
        }
      }),

    get: (id) =>
      guarded(`Reading run ${id}`, async () => {
        const row = await db.selectFrom('workflow_run').selectAll().where('id', '=', id).executeTakeFirst();
        return row ? fromRow(row) : null;
      }),

    list: (limit) =>
      guarded('Listing runs', async () => {
        const rows = await db
          .selectFrom('workflow_run')
          .selectAll()
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map(fromRow);
      }),
  };
}

function toRow(run: WorkflowRun) {
  return {
    id: run.id,
    session_id: textOrNull(run.sessionId),
    intent_text: textOrNull(run.intentText),
    plan: json(run.plan),
    status: run.status,
    tasks: json(run.tasks),
    version: run.version,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
  };
}

function fromRow(row: Selectable<Database['workflow_run']>): WorkflowRun {
  return {
    id: row.id,
    sessionId: row.session_id,
    intentText: row.intent_text,
    plan: row.plan as Plan | null,
    status: row.status as WorkflowRun['status'],
    tasks: row.tasks as Record<string, unknown>,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
