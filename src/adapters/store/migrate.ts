import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { MIGRATIONS } from './migrations/index.ts';

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
