import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { CommandModule } from '../command.ts';
import { parseObject } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

/** Any operation by its name: what has no command of its own is reached all the same. */
export const callCommand: CommandModule = (program, context) => {
  program
    .command('call')
    .argument('<operation>', 'its name, such as search_tools')
    .argument('[input]', 'what it takes, as JSON', parseObject)
    .description('run an operation of the API and print its answer as JSON')
    .addHelpText('after', '\nExample:\n  $ pml call search_tools \'{"query": "read a file", "limit": 3}\'')
    .action((name: string, input: JsonObject | undefined, options: GlobalOptions) =>
      withGateway(context, options, 'call', async (_, pml) => {
        if (!/^[a-z]+(?:_[a-z]+)*$/.test(name)) {
          throw new PmlError('usage', `"${name}" is not the name of an operation`, {
            hint: 'Names are in snake_case; GET /api/openapi.json has all of them.',
          });
        }
        const method = name.replace(/_([a-z])/g, (_whole, letter: string) => letter.toUpperCase());
        const call = pml[method as keyof typeof pml] as (given: JsonObject) => Promise<unknown>;
        context.terminal.out(`${JSON.stringify(await call(input ?? {}))}\n`);
      }),
    );
};
