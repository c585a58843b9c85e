import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import * as initial from './0001-initial.ts';
import * as codeMode from './0002-code-mode.ts';
import * as graph from './0003-graph.ts';
import * as workflows from './0004-workflows.ts';
import * as learning from './0005-learning.ts';
import * as suggestions from './0006-suggestions.ts';
import * as teams from './0007-teams.ts';
import * as people from './0008-people.ts';
import * as growth from './0009-growth.ts';
import * as lookups from './0010-lookups.ts';
import * as origins from './0011-origins.ts';
import * as traceOrder from './0012-trace-order.ts';
import * as scopes from './0013-scopes.ts';
import * as oauth from './0014-oauth.ts';
import * as calls from './0015-calls.ts';
import * as longTraces from './0016-long-traces.ts';

/** In order, and never edited once released: each schema change is a new entry. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
  '0002-code-mode': codeMode,
  '0003-graph': graph,
  '0004-workflows': workflows,
  '0005-learning': learning,
  '0006-suggestions': suggestions,
  '0007-teams': teams,
  '0008-people': people,
  '0009-growth': growth,
  '0010-lookups': lookups,
  '0011-origins': origins,
  '0012-trace-order': traceOrder,
  '0013-scopes': scopes,
  '0014-oauth': oauth,
  '0015-calls': calls,
  '0016-long-traces': longTraces,
};

/**
 * Migrates a database to this version's schema. Several processes may start at once: the migrator takes
 * PostgreSQL's advisory lock. A schema from a newer PML is left unchanged.
 */
export async function migrate<T>(db: Kysely<T>, where: string): Promise<void> {
  const applied = await appliedMigrations(db);
  const unknown = applied.filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) {
    throw new PmlError(
      'data_dir_newer',
      `${where} was written by a newer PML (it has ${unknown.join(', ')})`,
      {
        hint: 'Update PML, or choose another folder with --data. Nothing was changed.',
      },
    );
  }
  // The usual case: the migrator would take a tenth of a second to find out.
  if (applied.length === Object.keys(MIGRATIONS).length) return;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((r) => r.status === 'Error')?.migrationName ?? 'the first one';
  throw new PmlError('store_unavailable', `Migration ${failed} of ${where} failed: ${describe(error)}`, {
    hint: 'The migration was rolled back. Run "pml doctor" to see the state of the store.',
    cause: error,
  });
}

export async function appliedMigrations<T>(db: Kysely<T>): Promise<string[]> {
  const { rows } = await sql<{ present: boolean }>`
    select to_regclass('kysely_migration') is not null as present`.execute(db);
  if (!rows[0]?.present) return [];
  const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return applied.rows.map((row) => row.name);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
