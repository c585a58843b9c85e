import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule, Terminal } from '../command.ts';
import { countOf, withProgress } from '../command.ts';
import { barOf, gateOf, type Learning, nothingKnown, tooFew, trained } from '../describe-training.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly rollback?: boolean;
}

const EXAMPLES = `
Example:
  $ pml train
  $ pml train --rollback

PML trains by itself as runs come in; this command trains now. Ctrl-C stops it without changing anything.
See docs/learning.md.`;

export const trainCommand: CommandModule = (program, context) => {
  const { terminal, fail } = context;
  program
    .command('train')
    .description('train the ranker on past runs')
    .option('--rollback', 'roll back to the previous training, or to plain search if there is none')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) =>
      withGateway(context, options, 'train', async (pml) => {
        const told = options.rollback ? await rollBack(pml) : await train(pml, terminal);
        if (!told) {
          fail();
          terminal.err('Stopped. Nothing was changed.\n');
          return;
        }
        const { report, sentences } = told;
        if (options.json) terminal.out(`${JSON.stringify(report)}\n`);
        else terminal.out(sentences.map((sentence) => `${sentence}\n`).join(''));
      }),
    );
};

interface Told {
  readonly report: Learning;
  readonly sentences: readonly string[];
}

/** Null if it was stopped. */
async function train(pml: OperationClient, terminal: Terminal): Promise<Told | null> {
  // May take a while: imported runs have no vectors yet.
  const before = await withProgress(terminal, pml.getLearning(), async () => 'Loading past runs');
  if (before.runs < before.least_runs) return { report: before, sentences: tooFew(before) };
  let isStopped = false;
  void terminal.untilStopped().then(() => {
    isStopped = true;
    // If stopping fails, the training itself reports the error.
    return pml.stopTraining().catch(() => {});
  });
  try {
    const report = await withProgress(terminal, pml.trainRanker(), async () =>
      barOf((await pml.getLearning()).training),
    );
    const isNew = report.history[0]?.trained_at !== before.history[0]?.trained_at;
    return { report, sentences: isNew ? trained(report) : nothingKnown(report) };
  } catch (error) {
    if (isStopped || PmlError.from(error).code === 'cancelled') return null;
    throw error;
  }
}

async function rollBack(pml: OperationClient): Promise<Told> {
  const report = await pml.rollBackRanker();
  const [now] = report.history;
  if (!now) return { report, sentences: ['No earlier training exists. Search now ranks by text alone.'] };
  const when = now.trained_at.slice(0, 16).replace('T', ' ');
  return {
    report,
    sentences: [`Rolled back to the training on ${countOf(now.runs, 'run')} at ${when} UTC.`, gateOf(report)],
  };
}
