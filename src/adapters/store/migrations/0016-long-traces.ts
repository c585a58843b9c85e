import { type Kysely, sql } from 'kysely';

/**
 * The planner expects few rows of a function, and compared each start of a call with each end: of a program with a thousand
 * calls, a million pairs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter function keep_calls_added() set enable_nestloop = off`.execute(db);
}
