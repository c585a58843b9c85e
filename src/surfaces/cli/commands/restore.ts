import type { CommandModule } from '../command.ts';
import { countOf } from '../count-of.ts';
import { backupToWire, withTableProgress } from '../maintenance-report.ts';
import type { GlobalOptions } from '../system.ts';

interface RestoreOptions extends GlobalOptions {
  readonly replace?: boolean;
}

export const restoreCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('restore')
    .argument('<file>', 'what "pml backup" wrote')
    .description('put a backup into the store; no gateway may run on it meanwhile')
    .option('--replace', 'in the place of what the store has now')
    .addHelpText('after', '\nExample:\n  $ pml restore pml-2026-11-15.backup')
    .action(async (file: string, { replace = false, ...options }: RestoreOptions) => {
      const made = await withTableProgress(terminal, (onProgress) =>
        system.restore({ ...options, replace }, file, onProgress),
      );
      const rows = made.tables.reduce((sum, table) => sum + table.rows, 0);
      terminal.out(
        options.json
          ? `${JSON.stringify(backupToWire(made))}\n`
          : `${countOf(rows, 'row')} of ${made.madeAt} are restored.\n`,
      );
    });
};
