import { type Kysely, type Selectable, sql } from 'kysely';
import type { NodeId } from '../../../core/vocabulary/ids.ts';
import { type Approval, type ApprovalStore, approvalSettled } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, text } from './codec.ts';
import { appendEntry } from './people.ts';

export function sqlApprovals(db: Kysely<Database>): ApprovalStore {
  return {
    request: (approval) =>
      guarded(`Storing approval ${approval.id}`, async () => {
        await db
          .insertInto('approval')
          .values({
            id: approval.id,
            run_id: approval.runId,
            node: text(approval.node),
            arguments_hash: approval.argumentsHash,
            // Null is a value here: a call without arguments is shown as such.
            arguments: sql`${JSON.stringify(approval.arguments ?? null)}::json`,
            reason: text(approval.reason),
            state: approval.state,
            requested_at: approval.requestedAt,
            settled_at: approval.settledAt,
            settled_by: approval.settledBy,
          })
          .execute();
      }),

    settle: (id, state, by, at) =>
      guarded(`Settling approval ${id}`, () =>
        db.transaction().execute(async (tx) => {
          const row = await tx
            .updateTable('approval')
            .set({ state, settled_by: text(by), settled_at: at })
            .where('id', '=', text(id))
            .where('state', '=', 'pending')
            .returningAll()
            .executeTakeFirst();
          if (row) await appendEntry(tx, approvalSettled(fromRow(row), state, by, at));
          return row !== undefined;
        }),
      ),

    use: (id) =>
      guarded(`Using approval ${id}`, async () => {
        const { numUpdatedRows } = await db
          .updateTable('approval')
          .set({ state: 'used' })
          .where('id', '=', text(id))
          .where('state', '=', 'approved')
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),

    get: (id) =>
      guarded(`Reading approval ${id}`, async () => {
        const row = await db.selectFrom('approval').selectAll().where('id', '=', text(id)).executeTakeFirst();
        return row ? fromRow(row) : null;
      }),

    list: ({ state, runId, node, argumentsHash }) =>
      guarded('Listing approvals', async () => {
        let query = db.selectFrom('approval').selectAll().orderBy('seq');
        if (state !== undefined) query = query.where('state', '=', state);
        if (runId !== undefined) query = query.where('run_id', '=', text(runId));
        if (node !== undefined) query = query.where('node', '=', text(node));
        if (argumentsHash !== undefined) query = query.where('arguments_hash', '=', argumentsHash);
        return (await query.execute()).map(fromRow);
      }),
  };
}

function fromRow(row: Selectable<Database['approval']>): Approval {
  return {
    id: row.id,
    runId: row.run_id,
    node: row.node as NodeId,
    argumentsHash: row.arguments_hash,
    arguments: row.arguments,
    reason: row.reason,
    state: row.state as Approval['state'],
    requestedAt: row.requested_at,
    settledAt: row.settled_at,
    settledBy: row.settled_by,
  };
}
