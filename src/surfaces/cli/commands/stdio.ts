import type { CommandModule } from '../command.ts';
import type { GlobalOptions } from '../system.ts';

export const stdioCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('stdio')
    .description('the gateway as a stdio MCP server: what a client starts')
    .addHelpText(
      'after',
      '\nExample, in a client\'s configuration:\n  { "command": "pml", "args": ["stdio"] }',
    )
    .action(async (options: GlobalOptions) => {
      const gateway = await system.stdio(options);
      try {
        await Promise.race([gateway.ended, terminal.untilStopped()]);
      } finally {
        await gateway.close();
      }
    });
};
