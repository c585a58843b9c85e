import type { Transaction } from 'kysely';
import type { Database } from '../database.ts';

/** All that is kept of these runs besides their traces and the suggestions they came from. */
export async function endRuns(tx: Transaction<Database>, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await tx.deleteFrom('episodic_events').where('workflow_id', 'in', runIds).execute();
  await tx.deleteFrom('approval').where('run_id', 'in', runIds).execute();
  await tx.deleteFrom('workflow_run').where('id', 'in', runIds).execute();
}

/** The suggestions as well. */
export async function forgetRuns(tx: Transaction<Database>, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await endRuns(tx, runIds);
  await tx.deleteFrom('suggestion').where('run_id', 'in', runIds).execute();
}

/** Those of these runs that are not over, or wait for a person; in order of id. */
export async function unfinishedRuns(
  tx: Transaction<Database>,
  runIds: readonly string[],
): Promise<string[]> {
  if (runIds.length === 0) return [];
  const rows = await tx
    .selectFrom('workflow_run')
    .select('id')
    .where('id', 'in', runIds)
    .where('status', 'in', ['running', 'paused'])
    .union(
      tx
        .selectFrom('approval')
        .select('run_id as id')
        .where('run_id', 'in', runIds)
        .where('state', '=', 'pending'),
    )
    .execute();
  return rows.map(({ id }) => id).sort();
}
