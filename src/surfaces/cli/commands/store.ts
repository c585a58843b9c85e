import type { CommandModule } from '../command.ts';
import { tablesShown, withTableProgress } from '../maintenance-report.ts';
import type { GlobalOptions } from '../system.ts';

interface MigrateOptions extends GlobalOptions {
  readonly to: string;
  readonly replace?: boolean;
}

export const storeCommand: CommandModule = (program, { system, terminal }) => {
  const store = program.command('store').description('where PML keeps its memory');

  store
    .command('migrate')
    .description('copy the store into another one and compare every table there')
    .requiredOption('--to <url>', 'a postgres:// URL, or "embedded" for the one in the data folder')
    .option('--replace', 'in the place of what the other store has now')
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
        to === 'embedded' ? 'Take store.url out of the configuration' : 'Set store.url in the configuration';
      terminal.err(`All of ${made.from} is in ${made.to}, compared row by row. ${next} to use it.\n`);
    });
};
