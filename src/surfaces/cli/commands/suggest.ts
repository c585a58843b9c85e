import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import { suggestionToWire } from '../../../engine/gateway-wire.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { describeSuggestion } from '../describe-suggestion.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

const EXAMPLES = `
Example:
  $ pml suggest "read the notes and mail a summary"
  $ pml suggest --reject ID
  $ pml suggest "read the notes" --json | jq .plan | pml workflow run - --args '{"path": "notes.txt"}'`;

interface SuggestOptions extends GlobalOptions {
  readonly reject?: string;
}

export const suggestCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('suggest')
    .argument('[intent]', 'what you want to get done')
    .description('propose a plan of tools for a job')
    .option('--reject <id>', 'say that a suggestion was no good')
    .addHelpText('after', EXAMPLES)
    .action((intent: string | undefined, { reject, ...options }: SuggestOptions) =>
      withGateway(context, options, 'suggest', async (gateway) => {
        if (reject !== undefined) return await rejectSuggestion(context, gateway, reject);
        if (intent === undefined) throw new PmlError('usage', 'Say what you want to get done');
        const suggestion = await gateway.suggest(intent);
        if (options.json) terminal.out(`${JSON.stringify(suggestionToWire(suggestion))}\n`);
        else
          terminal.out(
            describeSuggestion(suggestion)
              .map((line) => `${printable(line)}\n`)
              .join(''),
          );
      }),
    );
};

async function rejectSuggestion({ terminal, fail }: CommandContext, gateway: GatewayClient, id: string) {
  if (await gateway.rejectSuggestion(id)) terminal.err('Noted: it will be suggested less.\n');
  else {
    terminal.err('What became of it is settled already.\n');
    fail();
  }
}
