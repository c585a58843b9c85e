import { printable } from '../../../core/vocabulary/text.ts';
import { columns } from '../columns.ts';
import type { CommandModule } from '../command.ts';
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
    .argument('<intent>', 'what is being done')
    .description('tell what usually comes next')
    .option('--after <tools>', 'what ran so far, in order, as a:b,c:d', parseList)
    .addHelpText('after', '\nExample:\n  $ pml next "tidy the notes" --after filesystem:list_directory')
    .action((intent: string, options: Options) =>
      withGateway(context, options, 'next', async (gateway) => {
        const next = await gateway.predictNext(intent, options.after ?? []);
        if (options.json) terminal.out(`${JSON.stringify({ next })}\n`);
        else if (next.length === 0)
          terminal.out('Nothing known fits. "pml servers" shows whose tools are known.\n');
        else
          terminal.out(
            columns(next.map(({ node, score, reason }) => [score.toFixed(3), node, printable(reason)])),
          );
      }),
    );
};
