import type { Kysely } from 'kysely';

/** Suggested plans and their outcomes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('suggestion')
    .addColumn('seq', 'bigserial', (c) => c.notNull().unique())
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('session_id', 'text')
    .addColumn('intent_text', 'text', (c) => c.notNull())
    .addColumn('plan', 'json', (c) => c.notNull())
    .addColumn('confidence', 'double precision', (c) => c.notNull())
    .addColumn('created_at', 'timestamptz', (c) => c.notNull())
    .addColumn('verdict', 'text')
    .addColumn('run_id', 'text')
    .addColumn('outcome', 'json')
    .execute();
  await db.schema
    .createIndex('suggestion_session')
    .on('suggestion')
    .columns(['session_id', 'verdict'])
    .execute();
  await db.schema.createIndex('suggestion_run').on('suggestion').column('run_id').execute();
}
