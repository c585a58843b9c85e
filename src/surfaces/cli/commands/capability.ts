import type { JsonObject } from '../../../engine/ports.ts';
import type { CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { describeCapability, HEAD, NONE, row } from '../describe-capability.ts';
import { parseCount, parseObject } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { type Execution, tellRun } from '../tell-run.ts';
import { withGateway } from '../with-gateway.ts';
import { addCapabilityChangeCommands } from './capability-change.ts';
import { addCapabilityFileCommands } from './capability-files.ts';
import { addCapabilityTestCommand, addCapabilityVerifyCommand } from './capability-test.ts';

interface RunOptions extends GlobalOptions {
  readonly args?: JsonObject;
  readonly intent?: string;
  readonly timeout?: number;
}

export const capabilityCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const capability = program
    .command('capability')
    .description('manage and run the capabilities learned from runs');

  capability
    .command('ls', { isDefault: true })
    .description('list capabilities with their success rate and the tools they use')
    .addHelpText('after', '\nExample:\n  $ pml capability ls')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.listCapabilities();
        const all = found.capabilities;
        if (options.json) terminal.out(`${JSON.stringify(found)}\n`);
        else terminal.out(all.length === 0 ? NONE : columns([HEAD, ...all.map(row)]));
      }),
    );

  capability
    .command('show')
    .argument('<slug>', 'slug of the capability')
    .description('show the signature, code and run history of a capability')
    .addHelpText('after', '\nExample:\n  $ pml capability show count_lines')
    .action((slug: string, options: GlobalOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const found = await pml.getCapability({ slug });
        terminal.out(options.json ? `${JSON.stringify(found)}\n` : describeCapability(found));
      }),
    );

  capability
    .command('run')
    .argument('<slug>', 'slug of the capability')
    .description('run a capability')
    .option('--args <json>', 'arguments, as JSON', parseObject)
    .option('--intent <text>', 'what this run is for')
    .option('--timeout <ms>', 'timeout in milliseconds', parseCount)
    .addHelpText('after', '\nExample:\n  $ pml capability run count_lines --args \'{"path": "notes/a.md"}\'')
    .action((slug: string, { args, intent, timeout, ...options }: RunOptions) =>
      withGateway(context, options, 'capability', async (pml) => {
        const call = {
          capability: slug,
          arguments: args ?? {},
          ...(intent !== undefined && { intent }),
          ...(timeout !== undefined && { timeout_ms: timeout }),
        };
        tellRun(context, (await pml.execute(call)) as Execution, options);
      }),
    );

  addCapabilityChangeCommands(capability, context);
  addCapabilityTestCommand(capability, context);
  addCapabilityFileCommands(capability, context);
  addCapabilityVerifyCommand(capability, context);
};
