import type { Kysely } from 'kysely';
import type { ServerRecord, ServerStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json } from './codec.ts';

export function sqlServers(db: Kysely<Database>): ServerStore {
  return {
    put: ({ name, settingsHash, identity, refreshedAt }) =>
      guarded(`Storing server ${name}`, async () => {
        const fresh = { settings_hash: settingsHash, identity: json(identity), refreshed_at: refreshedAt };
        await db
          .insertInto('upstream_server')
          .values({ name, ...fresh })
          .onConflict((c) => c.column('name').doUpdateSet(fresh))
          .execute();
      }),

    list: () =>
      guarded('Listing servers', async () => {
        const rows = await db.selectFrom('upstream_server').selectAll().execute();
        return rows
          .map((row) => ({
            name: row.name,
            settingsHash: row.settings_hash,
            identity: row.identity as ServerRecord['identity'],
            refreshedAt: row.refreshed_at,
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      }),

    remove: (name) =>
      guarded(`Removing server ${name}`, async () => {
        await db.deleteFrom('upstream_server').where('name', '=', name).execute();
      }),
  };
}
