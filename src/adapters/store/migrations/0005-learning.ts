import type { Kysely } from 'kysely';

/** Vectors of an intent's clauses, so that the ranker need not embed past intents again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('execution_trace').addColumn('clause_embeddings', 'bytea').execute();
}
