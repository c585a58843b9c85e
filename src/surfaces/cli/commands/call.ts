import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { CommandModule } from '../command.ts';
import { parseObject } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

/** Runs any operation by name, including those without their own command. */
export const callCommand: CommandModule = (program, context) => {
  program
    .command('call')
    .argument('<operation>', 'name of the operation, such as search_tools')
    .argument('[input]', 'input of the operation, as JSON', parseObject)
    .description('run an operation of the API and print its output as JSON')
    .addHelpText('after', '\nExample:\n  $ pml call search_tools \'{"query": "read a file", "limit": 3}\'')
    .action((name: string, input: JsonObject | undefined, options: GlobalOptions) =>
      withGateway(context, options, 'call', async (pml) => {
        if (!/^[a-z]+(?:_[a-z]+)*$/.test(name)) {
          throw new PmlError('usage', `Unknown operation "${name}"`, {
            hint: 'Names are in snake_case; GET /api/openapi.json lists them.',
          });
        }
        const method = name.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());
        const call = pml[method as keyof typeof pml] as (given: JsonObject) => Promise<unknown>;
        context.terminal.out(`${JSON.stringify(await call(input ?? {}))}\n`);
      }),
    );
};
