import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { sql } from 'kysely';
import {
  type BackupReport,
  checkBackup,
  load,
  readBackup,
  writeBackup,
} from '../adapters/store/backup/backup-file.ts';
import { type DumpPiece, dump } from '../adapters/store/backup/dump.ts';
import { claim, ensureDataDir } from '../adapters/store/data-dir-lock.ts';
import { openPgliteStore } from '../adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../adapters/store/open-postgres-store.ts';
import { appendEntry } from '../adapters/store/sql/people.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Clock, StoreSettings } from '../engine/ports.ts';
import type { DataHolder } from '../operations/operation-context.ts';
import type { MaintenanceProgress, MigrationReport } from '../surfaces/cli/system.ts';

const DEFAULTS = {
  /** Timeout of a statement on a whole table: a day. */
  statementMs: 24 * 60 * 60_000,
};

/** Name of the embedded store where a URL is expected. */
const EMBEDDED = 'embedded';

type OnProgress = (progress: MaintenanceProgress) => void;

/** For a running gateway: a backup of its open store. */
export function createBackups(
  store: Promise<SqlStore>,
  clock: Clock,
): Pick<DataHolder, 'backUp' | 'backupProgress'> {
  let progress: MaintenanceProgress | null = null;
  return {
    async backUp(file) {
      const { db } = await store;
      try {
        const pieces = watched(dump(db), (made) => {
          progress = made;
        });
        return await writeBackup(file, clock.now(), pieces);
      } finally {
        progress = null;
      }
    },
    backupProgress: () => progress,
  };
}

/** Replaces the store's content by a backup; nothing changes unless the backup is valid. */
export async function restoreBackup(
  dir: string,
  settings: StoreSettings,
  file: string,
  { replace }: { readonly replace: boolean },
  onProgress: OnProgress,
): Promise<BackupReport> {
  const checked = await checkBackup(file);
  return await alone(dir, async () => {
    const store = await openAlone(dir, settings.url, settings);
    try {
      await load(store.db, watched(readBackup(file), onProgress), { replace }, (tx) =>
        appendEntry(tx, {
          at: new Date(),
          actor: userInfo().username,
          action: 'restored',
          subject: file,
          hash: checked.sha256,
          details: { made_at: checked.madeAt },
        }),
      );
      return checked;
    } finally {
      await store.close();
    }
  });
}

/** Copies everything to another store and compares it there; the source is unchanged. */
export async function migrateStore(
  dir: string,
  settings: StoreSettings,
  to: string,
  { replace }: { readonly replace: boolean },
  onProgress: OnProgress,
): Promise<MigrationReport> {
  const target = to === EMBEDDED ? null : to;
  if (target === settings.url) throw new PmlError('usage', `The store is already at ${nameOf(target)}`);
  return await alone(dir, async () => {
    const source = await openAlone(dir, settings.url, settings);
    try {
      const sink = await openAlone(dir, target, settings);
      try {
        const tables = await load(sink.db, watched(dump(source.db), onProgress), { replace });
        return { from: nameOf(settings.url), to: nameOf(target), tables };
      } finally {
        await sink.close();
      }
    } finally {
      await source.close();
    }
  });
}

/** Runs `work` while no other process has the data folder. */
async function alone<T>(dir: string, work: () => Promise<T>): Promise<T> {
  await ensureDataDir(dir);
  const lock = await claim(dir, 'store', { patience: async () => false });
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Refuses to change a shared store while gateways use it. */
async function openAlone(dir: string, url: string | null, settings: StoreSettings): Promise<SqlStore> {
  if (url === null) return await openPgliteStore(dir);
  const name = `pml store ${randomUUID()}`;
  // Without a short statement timeout: work on a whole store may take long.
  const store = await openPostgresStore(url, {
    name,
    pool: settings.pool,
    statementTimeoutMs: DEFAULTS.statementMs,
  });
  const { rows } = await sql<{ count: number }>`
    select count(distinct application_name)::int as count from pg_stat_activity
    where datname = current_database() and application_name like 'pml%' and application_name <> ${name}`.execute(
    store.db,
  );
  const others = rows[0]?.count ?? 0;
  if (others === 0) return store;
  await store.close();
  throw new PmlError('data_dir_held', `${others} other PML gateways or commands use ${nameOf(url)}`, {
    hint: 'Stop them, then try again.',
  });
}

async function* watched(pieces: AsyncIterable<DumpPiece>, onProgress: OnProgress): AsyncGenerator<DumpPiece> {
  let progress: MaintenanceProgress = { table: '', rows: 0 };
  for await (const piece of pieces) {
    if (piece.kind === 'table') progress = { table: piece.table, rows: 0 };
    else if (piece.kind === 'rows') progress = { ...progress, rows: progress.rows + piece.rows.length };
    onProgress(progress);
    yield piece;
  }
}

function nameOf(url: string | null): string {
  if (url === null) return EMBEDDED;
  if (!URL.canParse(url)) throw new PmlError('usage', '--to must be "embedded" or a postgres:// URL');
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
