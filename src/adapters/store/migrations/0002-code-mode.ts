import type { Kysely } from 'kysely';

/** A run's program and its observations besides calls; observed outputs of tools. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('execution_trace')
    .addColumn('code_snippet', 'text')
    .addColumn('guest', 'json')
    .execute();
  await db.schema.alterTable('tool_schema').addColumn('observed_output', 'json').execute();
}
