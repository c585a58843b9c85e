import type { Kysely } from 'kysely';

/** What the built-in authorization server keeps: clients, grants, and hashes of codes and tokens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('oauth_record')
    .addColumn('seq', 'bigserial', (c) => c.notNull().unique())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('grant_id', 'text')
    .addColumn('payload', 'json', (c) => c.notNull())
    .addColumn('expires_at', 'timestamptz', (c) => c.notNull())
    .addColumn('consumed_at', 'timestamptz')
    .addPrimaryKeyConstraint('oauth_record_pkey', ['kind', 'id'])
    .execute();
  await db.schema.createIndex('oauth_record_grant').on('oauth_record').column('grant_id').execute();
  await db.schema.createIndex('oauth_record_expiry').on('oauth_record').column('expires_at').execute();
}
