import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';

/** Major version of the PostgreSQL inside the bundled PGlite. */
const POSTGRES_MAJOR = 18;

/** Files without which PostgreSQL cannot start; their absence means an interrupted copy or a stray folder. */
const VITAL = ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal'];

/** Says what is wrong with a cluster before PostgreSQL is let near it; deletes nothing. */
export async function inspectCluster(dir: string): Promise<'absent' | 'present'> {
  if (!(await exists(dir))) return 'absent';
  const missing: string[] = [];
  for (const name of VITAL) if (!(await exists(join(dir, name)))) missing.push(name);
  if (missing.length > 0)
    throw damaged(dir, `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`);
  const version = Number.parseInt((await readFile(join(dir, 'PG_VERSION'), 'utf8')).trim(), 10);
  if (version > POSTGRES_MAJOR) {
    throw new PmlError(
      'data_dir_newer',
      `${dir} is a PostgreSQL ${version} cluster; this PML brings PostgreSQL ${POSTGRES_MAJOR}`,
      { hint: 'Update PML, or point --data at another folder. Nothing was changed.' },
    );
  }
  if (version !== POSTGRES_MAJOR) throw damaged(dir, `its PG_VERSION is not ${POSTGRES_MAJOR}`);
  return 'present';
}

export function damaged(dir: string, why: string, cause?: unknown): PmlError {
  return new PmlError('data_dir_damaged', `The database in ${dir} cannot be opened: ${why}`, {
    hint: 'Nothing was deleted. Restore the folder from a backup, or move it away to start afresh.',
    cause,
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new PmlError('data_dir_unreadable', `${path} cannot be read: ${(error as Error).message}`, {
      hint: 'Check that the folder is yours and that no file stands in its way.',
      cause: error,
    });
  }
}
