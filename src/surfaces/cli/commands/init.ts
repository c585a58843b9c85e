import type { CommandModule } from '../command.ts';
import { confirmed } from '../parse-option.ts';
import type { InitOptions, SetupPlan } from '../system.ts';

interface Options extends InitOptions {
  readonly undo?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const EXAMPLES = `
Example:
  $ pml init
  $ pml init --from cursor --dry-run
  $ pml init --undo`;

export const initCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('init')
    .description('move the servers of your MCP clients behind PML and connect the clients to it')
    .option(
      '--from <client>',
      'claude, cursor, vscode, codex, gemini, windsurf, zed, opencode, cline, copilot, goose, or a file (default: every installed client)',
    )
    .option('--project', 'move the servers of the project in this folder behind PML, for this project only')
    .option('--undo', 'restore the files as they were before the last init')
    .option('--yes', 'make the changes without asking')
    .option('--dry-run', 'show what would change without changing anything')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const plan = options.undo ? await system.planUndo(options) : await system.planInit(options);
      if (!options.json) terminal.out(describe(plan));
      const done = (await isWanted(plan, options)) ? await plan.apply() : null;
      if (options.json) terminal.out(`${JSON.stringify(toJson(plan, done))}\n`);
      else terminal.out(conclude(plan, options, done));
    });

  async function isWanted(plan: SetupPlan, options: Options): Promise<boolean> {
    if (options.dryRun) return false;
    // Without changes there is nothing to confirm.
    return plan.changes.length === 0 || (await confirmed(terminal, 'Make these changes?', options));
  }
};

function describe({ changes, imported, notes }: SetupPlan): string {
  const servers = imported.map(({ name, from }) => `  ${name} (from ${from})`);
  return [
    ...changes.map(({ label, diff }) => `${label}\n${diff}`),
    ...(changes.length > 0
      ? ['Values of env and headers are hidden here; the files contain the real values.', '']
      : []),
    ...(servers.length > 0 ? ['Servers to move behind PML:', ...servers, ''] : []),
    ...notes.map((note) => `! ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function conclude({ changes }: SetupPlan, { undo }: Options, done: readonly string[] | null): string {
  if (changes.length === 0) return 'Nothing to change: everything is already set up.\n';
  if (done === null) return 'Nothing was changed.\n';
  const next = undo
    ? 'Restart your clients so that they read their files again.'
    : 'Restart your clients so that they read their files again. "pml init --undo" reverts this.';
  const approvals = undo
    ? []
    : [
        'Approve calls in the dashboard ("pml login") or with "pml runs". Clients cannot approve their own calls, unless "clients_decide" under "pml.permissions" allows it.',
      ];
  return [...done, ...approvals, next].map((line) => `${line}\n`).join('');
}

function toJson({ changes, imported, notes }: SetupPlan, done: readonly string[] | null) {
  return { changes, imported, notes, applied: done !== null, done: done ?? [] };
}
