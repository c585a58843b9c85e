import { type Kysely, sql } from 'kysely';

/** Who chose to run something. Until now, replays by PML itself were recognised by their session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['execution_trace', 'workflow_run']) {
    await db.schema
      .alterTable(table)
      .addColumn('origin', 'text', (c) => c.notNull().defaultTo('agent'))
      .execute();
    await sql`update ${sql.table(table)} set origin = 'replay' where session_id = 'replay'`.execute(db);
  }
}
