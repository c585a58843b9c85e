import { type Kysely, sql } from 'kysely';

/** Keys of people and agents, owners of runs, and an append-only log of decisions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createKeys(db);
  await createAuditLog(db);
  for (const table of ['execution_trace', 'workflow_run']) {
    await db.schema
      .alterTable(table)
      .addColumn('owner', 'text')
      .addColumn('visibility', 'text', (c) => c.notNull().defaultTo('shared'))
      .execute();
  }
}

async function createKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('api_key')
    .addColumn('seq', 'bigserial', (c) => c.notNull().unique())
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('user_name', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'timestamptz', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('revoked_at', 'timestamptz')
    .addColumn('revoked_by', 'text')
    .execute();
  // A name can be reused once its key is revoked.
  await sql`create unique index api_key_name on api_key (name) where revoked_at is null`.execute(db);
}

async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_log')
    .addColumn('seq', 'bigserial', (c) => c.primaryKey())
    .addColumn('at', 'timestamptz', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('hash', 'text')
    .addColumn('details', 'json', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('audit_log_subject')
    .on('audit_log')
    .columns(['subject', 'action', 'seq'])
    .execute();
  await sql`
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit log is only ever added to';
    end $$`.execute(db);
  await sql`
    create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_change()`.execute(db);
}
