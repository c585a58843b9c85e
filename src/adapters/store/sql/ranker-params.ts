import type { Kysely } from 'kysely';
import type { RankerParamsStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json } from './codec.ts';

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
          // `pg` answers with a Buffer on a shared pool; callers get plain bytes of their own.
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
