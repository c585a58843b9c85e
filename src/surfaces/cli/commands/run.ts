import type { JsonObject } from '../../../engine/ports.ts';
import type { CommandModule } from '../command.ts';
import { parseCount, parseObject } from '../parse-option.ts';
import { readInput } from '../read-input.ts';
import type { GlobalOptions } from '../system.ts';
import { tellRun } from '../tell-run.ts';
import { withGateway } from '../with-gateway.ts';

interface RunOptions extends GlobalOptions {
  readonly intent?: string;
  readonly args?: JsonObject;
  readonly timeout?: number;
}

const EXAMPLES = `
Example:
  $ pml run summarise.ts --intent "summarise the notes" --args '{"path": "notes"}'
  $ echo 'return await mcp.memory.read_graph()' | pml run -

What the program sees: mcp.<server>.<tool>(args), capabilities.<slug>(args), args, console.
Top-level await and return both work. What it writes goes to stderr, what it returns to stdout.`;

export const runCommand: CommandModule = (program, context) => {
  program
    .command('run')
    .argument('<file>', 'TypeScript or JavaScript; - for stdin')
    .description('run a program that calls tools')
    .option('--intent <text>', 'what it is for: runs are found and learned from by it')
    .option('--args <json>', 'what it sees as args', parseObject)
    .option('--timeout <ms>', 'how long it may take', parseCount)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { intent, args, timeout, ...options }: RunOptions) => {
      const { text: code, ...named } = await readInput(file, context.terminal, 'TypeScript');
      const call = {
        code,
        ...(args && { arguments: args }),
        ...(intent !== undefined && { intent }),
        ...(timeout !== undefined && { timeoutMs: timeout }),
      };
      await withGateway(context, options, 'run', async (gateway) =>
        tellRun(context, await gateway.runCode(call), options, { ...named, code }),
      );
    });
};
