import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { OperationClient } from '../../../operations/operation-client.ts';
import { type CommandContext, type CommandModule, columns } from '../command.ts';
import { describeSuggestion, type Suggestion } from '../describe-suggestion.ts';
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
    .option('--after <tools>', 'tools used so far, in order, for example a:b,c:d', parseList)
    .addHelpText('after', '\nExample:\n  $ pml next "tidy the notes" --after filesystem:list_directory')
    .action((intent: string, options: Options) =>
      withGateway(context, options, 'next', async (pml) => {
        const { next } = await pml.predictNext({ intent, executed: options.after ?? [] });
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
      withGateway(context, options, 'suggest', async (pml) => {
        if (reject !== undefined) return await rejectSuggestion(context, pml, reject);
        if (intent === undefined)
          throw new PmlError('usage', 'The intent is missing: describe what you want to do');
        const suggestion = (await pml.suggest({ intent })) as Suggestion;
        if (options.json) terminal.out(`${JSON.stringify(suggestion)}\n`);
        else
          terminal.out(
            describeSuggestion(suggestion)
              .map((line) => `${printable(line)}\n`)
              .join(''),
          );
      }),
    );
};

async function rejectSuggestion({ terminal, fail }: CommandContext, pml: OperationClient, id: string) {
  try {
    await pml.rejectSuggestion({ suggestion_id: id });
    terminal.err('Rejected: this plan will be suggested less often.\n');
  } catch (error) {
    if (PmlError.from(error).code !== 'store_conflict') throw error;
    terminal.err('The outcome of this suggestion is already known.\n');
    fail();
  }
}
