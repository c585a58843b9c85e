import type { CommandModule } from '../command.ts';
import { countOf } from '../count-of.ts';
import { backupToWire, withTableProgress } from '../maintenance-report.ts';
import { refuseExisting } from '../open-target.ts';
import type { GlobalOptions } from '../system.ts';

interface BackupOptions extends GlobalOptions {
  readonly force?: boolean;
}

export const backupCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('backup')
    .argument('<file>', 'file to write')
    .description('write the whole store into one file, also while a gateway runs')
    .option('--force', 'replace the file if it is there')
    .addHelpText('after', '\nExample:\n  $ pml backup pml-2026-11-15.backup')
    .action(async (file: string, { force, ...options }: BackupOptions) => {
      if (!force) await refuseExisting(file);
      const made = await withTableProgress(terminal, (onProgress) =>
        system.backup(options, file, onProgress),
      );
      const rows = made.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.out(
        options.json
          ? `${JSON.stringify(backupToWire(made))}\n`
          : `${countOf(rows, 'row')} of ${countOf(made.tables.length, 'table')} are in ${file}.\n`,
      );
    });
};
