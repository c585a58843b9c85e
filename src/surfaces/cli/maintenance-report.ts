import { columns } from './columns.ts';
import type { Terminal } from './command.ts';
import { countOf } from './count-of.ts';
import { createProgress } from './progress.ts';
import type { BackupReport, MaintenanceProgress, TableReport } from './system.ts';

/** Shows how far work on all tables is, until it ends. */
export async function withTableProgress<T>(
  terminal: Terminal,
  work: (onProgress: (progress: MaintenanceProgress) => void) => Promise<T>,
): Promise<T> {
  const progress = createProgress(terminal);
  try {
    return await work(({ table, rows }) => progress.show(`${table}: ${countOf(rows, 'row')}`));
  } finally {
    progress.done();
  }
}

export function tablesShown(tables: readonly TableReport[]): string {
  return columns(tables.map(({ table, rows, sha256 }) => [table, String(rows), sha256.slice(0, 16)]));
}

export function backupToWire({ file, madeAt, tables, sha256 }: BackupReport) {
  return { file, made_at: madeAt, sha256, tables };
}
