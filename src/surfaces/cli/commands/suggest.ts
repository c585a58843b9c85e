import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import { suggestionToWire } from '../../../operations/shapes/suggestion.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { columns } from '../command.ts';
import { describeSuggestion } from '../describe-suggestion.ts';
import { parseList } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly after?: string[];
}

export const nextCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('next')
    .argument('<intent>', 'what you are doing')
    .description('predict the next tool')
    .option('--after <tools>', 'tools that ran so far, in order, for example a:b,c:d', parseList)
    .addHelpText('after', '\nExample:\n  $ pml next "tidy the notes" --after filesystem:list_directory')
    .action((intent: string, options: Options) =>
      withGateway(context, options, 'next', async (gateway) => {
        const next = await gateway.predictNext(intent, options.after ?? []);
        if (options.json) terminal.out(`${JSON.stringify({ next })}\n`);
        else if (next.length === 0)
          terminal.out('No tool fits. "pml servers ls" shows the attached servers.\n');
        else
          terminal.out(
            columns(next.map(({ node, score, reason }) => [score.toFixed(3), node, printable(reason)])),
          );
      }),
    );
};

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
    .argument('[intent]', 'what you want to do')
    .description('suggest a plan of tool calls for an intent')
    .option('--reject <id>', 'reject a suggestion')
    .addHelpText('after', EXAMPLES)
    .action((intent: string | undefined, { reject, ...options }: SuggestOptions) =>
      withGateway(context, options, 'suggest', async (gateway) => {
        if (reject !== undefined) return await rejectSuggestion(context, gateway, reject);
        if (intent === undefined)
          throw new PmlError('usage', 'The intent is missing: say what you want to do');
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
  if (await gateway.rejectSuggestion(id)) terminal.err('Noted: it will be suggested less often.\n');
  else {
    terminal.err('The outcome of this suggestion is already known.\n');
    fail();
  }
}
