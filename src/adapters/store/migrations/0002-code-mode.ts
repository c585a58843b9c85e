import type { Kysely } from 'kysely';

/** The program a run was and what it saw besides its calls; what tools were seen to give. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('execution_trace')
    .addColumn('code_snippet', 'text')
    .addColumn('guest', 'json')
    .execute();
  await db.schema.alterTable('tool_schema').addColumn('observed_output', 'json').execute();
}
