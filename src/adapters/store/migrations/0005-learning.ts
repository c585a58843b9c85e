import type { Kysely } from 'kysely';

/** The vectors of an intent's clauses, so that the ranker looks back on past runs without embedding them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('execution_trace').addColumn('clause_embeddings', 'bytea').execute();
}
