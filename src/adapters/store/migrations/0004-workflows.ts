import { type Kysely, sql } from 'kysely';

interface OldRun {
  readonly id: string;
  readonly tasks: Readonly<Record<string, unknown>>;
}

/** Tasks of a run as separate rows, written as each task starts and ends; the lease of a run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('workflow_task')
    .addColumn('run_id', 'text', (c) => c.notNull().references('workflow_run.id').onDelete('cascade'))
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addColumn('state', 'json', (c) => c.notNull())
    .addPrimaryKeyConstraint('workflow_task_pk', ['run_id', 'task_id'])
    .execute();
  await moveTasks(db);
  await db.schema.alterTable('workflow_run').dropColumn('tasks').execute();
  await db.schema
    .alterTable('workflow_run')
    // Earlier rows are single calls that waited for approval.
    .addColumn('kind', 'text', (c) => c.notNull().defaultTo('call'))
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'timestamptz')
    .execute();
  await db.schema.createIndex('workflow_run_status').on('workflow_run').columns(['status', 'seq']).execute();
}

/** Row by row: PostgreSQL's JSON functions refuse a NUL. */
async function moveTasks(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<OldRun>`select id, tasks from workflow_run`.execute(db);
  for (const { id, tasks } of rows) {
    for (const [task, state] of Object.entries(tasks)) {
      await sql`
        insert into workflow_task (run_id, task_id, state)
        values (${id}, ${task}, ${JSON.stringify(state)}::json)`.execute(db);
    }
  }
}
