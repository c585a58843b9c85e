import type { Kysely } from 'kysely';

/** What keys may use, and how much they have used. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_key').addColumn('scope', 'json').execute();
  await db.schema.alterTable('workflow_run').addColumn('begun_with', 'json').execute();
  await db.schema
    .createTable('key_usage')
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('span', 'text', (c) => c.notNull())
    .addColumn('started_at', 'timestamptz', (c) => c.notNull())
    .addColumn('calls', 'double precision', (c) => c.notNull())
    .addColumn('tokens', 'double precision', (c) => c.notNull())
    .addColumn('seconds', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('key_usage_key', ['key_id', 'span', 'started_at'])
    .execute();
}
