import { Command, CommanderError } from 'commander';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { CommandContext, CommandModule, Terminal } from './command.ts';
import { auditCommand } from './commands/audit.ts';
import { callCommand } from './commands/call.ts';
import { capabilityCommand } from './commands/capability.ts';
import { completionCommand } from './commands/completion.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evalCommand } from './commands/eval.ts';
import { graphCommand } from './commands/graph.ts';
import { initCommand } from './commands/init.ts';
import { keysCommand } from './commands/keys.ts';
import { loginCommand } from './commands/login.ts';
import { replayCommand } from './commands/replay.ts';
import { runCommand } from './commands/run.ts';
import { runsCommand } from './commands/runs.ts';
import { searchCommand } from './commands/search.ts';
import { serveCommand, stdioCommand } from './commands/serve.ts';
import { serversCommand } from './commands/servers.ts';
import { backupCommand, restoreCommand, storeCommand } from './commands/store.ts';
import { nextCommand, suggestCommand } from './commands/suggest.ts';
import { traceCommand } from './commands/trace.ts';
import { trainCommand } from './commands/train.ts';
import { trustCommand } from './commands/trust.ts';
import { structureCommand, typesCommand } from './commands/types.ts';
import { workflowCommand } from './commands/workflow.ts';
import { allCommands, withGlobalOptions } from './parse-option.ts';
import type { System } from './system.ts';

const COMMANDS: readonly CommandModule[] = [
  serveCommand,
  stdioCommand,
  initCommand,
  trustCommand,
  serversCommand,
  searchCommand,
  suggestCommand,
  nextCommand,
  runCommand,
  structureCommand,
  typesCommand,
  workflowCommand,
  runsCommand,
  traceCommand,
  replayCommand,
  capabilityCommand,
  graphCommand,
  trainCommand,
  callCommand,
  evalCommand,
  loginCommand,
  keysCommand,
  auditCommand,
  backupCommand,
  restoreCommand,
  storeCommand,
  doctorCommand,
  completionCommand,
];

const EXIT = { success: 0, failure: 1, usage: 2 } as const;

/** Runs one command line and returns its exit code: 0 success, 1 failure, 2 wrong usage. */
export async function runCli(argv: readonly string[], system: System, terminal: Terminal): Promise<number> {
  let code: number = EXIT.success;
  const context: CommandContext = {
    system,
    terminal,
    fail() {
      code = EXIT.failure;
    },
  };
  const program = buildProgram(context);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
    const problem = PmlError.from(error);
    report(problem, terminal, argv.includes('--json'));
    return problem.code === 'usage' ? EXIT.usage : EXIT.failure;
  }
}

/** The commands with their options and help, from which the reference is written too. */
export function buildProgram(context: CommandContext): Command {
  const { system, terminal } = context;
  const program = new Command('pml')
    .description('The MCP gateway that remembers how work gets done')
    .version(system.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showSuggestionAfterError()
    .exitOverride();
  for (const addCommand of COMMANDS) addCommand(program, context);
  for (const command of allCommands(program)) withGlobalOptions(command.exitOverride());
  program.addHelpText('after', '\nExample:\n  $ pml serve --demo\n  $ pml doctor');
  return program;
}

function report(problem: PmlError, terminal: Terminal, json: boolean): void {
  if (json) {
    terminal.out(`${JSON.stringify({ error: problem.toShape() })}\n`);
    return;
  }
  terminal.err(`pml: ${problem.message}\n`);
  if (problem.hint !== undefined) terminal.err(`  ${problem.hint}\n`);
}
