import { resolve } from 'node:path';
import type { CommandModule, Terminal } from '../command.ts';
import { columns, countOf, createProgress, withProgress } from '../command.ts';
import type { BackupReport, GlobalOptions, MaintenanceProgress, TableReport } from '../system.ts';
import { refuseExisting, withGateway } from '../with-gateway.ts';

interface RestoreOptions extends GlobalOptions {
  readonly replace?: boolean;
}

export const restoreCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('restore')
    .argument('<file>', 'file written by "pml backup"')
    .description('load a backup into the store; stop the gateway first')
    .option('--replace', 'replace the current content of the store')
    .addHelpText('after', '\nExample:\n  $ pml restore pml-2026-11-15.backup')
    .action(async (file: string, { replace = false, ...options }: RestoreOptions) => {
      const made = await withTableProgress(terminal, (onProgress) =>
        system.restore({ ...options, replace }, file, onProgress),
      );
      const rows = made.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.out(
        options.json
          ? `${JSON.stringify(backupToWire(made))}\n`
          : `Restored ${countOf(rows, 'row')} from the backup of ${made.madeAt}.\n`,
      );
    });
};

interface BackupOptions extends GlobalOptions {
  readonly force?: boolean;
}

export const backupCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('backup')
    .argument('<file>', 'file to write')
    .description('write the whole store to one file, even while a gateway runs')
    .option('--force', 'overwrite an existing file')
    .addHelpText('after', '\nExample:\n  $ pml backup pml-2026-11-15.backup')
    .action(async (file: string, { force, ...options }: BackupOptions) => {
      if (!force) await refuseExisting(file);
      const made = await withGateway(context, options, 'backup', (pml) =>
        withProgress(terminal, pml.backUpStore({ file: resolve(file) }), async () => {
          const { backup } = await pml.getProgress();
          return backup && `${backup.table}: ${countOf(backup.rows, 'row')}`;
        }),
      );
      const rows = made.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.out(
        options.json
          ? `${JSON.stringify(made)}\n`
          : `Wrote ${countOf(rows, 'row')} of ${countOf(made.tables.length, 'table')} to ${file}.\n`,
      );
    });
};

interface MigrateOptions extends GlobalOptions {
  readonly to: string;
  readonly replace?: boolean;
}

export const storeCommand: CommandModule = (program, { system, terminal }) => {
  const store = program.command('store').description('manage the database PML uses');

  store
    .command('migrate')
    .description('copy the store to another database and compare every table')
    .requiredOption('--to <url>', 'a postgres:// URL, or "embedded" for the database in the data folder')
    .option('--replace', 'replace the current content of the target store')
    .addHelpText('after', '\nExample:\n  $ pml store migrate --to postgres://pml@db.example/pml')
    .action(async ({ to, replace = false, ...options }: MigrateOptions) => {
      const made = await withTableProgress(terminal, (onProgress) =>
        system.migrateStore({ ...options, replace }, to, onProgress),
      );
      if (options.json) {
        terminal.out(`${JSON.stringify(made)}\n`);
        return;
      }
      terminal.out(tablesShown(made.tables));
      const next =
        to === 'embedded' ? 'Remove store.url from the configuration' : 'Set store.url in the configuration';
      terminal.err(`Copied ${made.from} to ${made.to} and compared every row. ${next} to use it.\n`);
    });
};

/** Shows progress over all tables until the work ends. */
async function withTableProgress<T>(
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

function tablesShown(tables: readonly TableReport[]): string {
  return columns(tables.map(({ table, rows, sha256 }) => [table, String(rows), sha256.slice(0, 16)]));
}

function backupToWire({ file, madeAt, tables, sha256 }: BackupReport) {
  return { file, made_at: madeAt, sha256, tables };
}
