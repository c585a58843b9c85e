import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule, Terminal } from '../command.ts';
import { countOf, withProgress } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

type Learning = Answer<'get_learning'>;

interface Options extends GlobalOptions {
  readonly rollback?: boolean;
}

const DEFAULTS = {
  /** Characters of the progress bar. */
  barWidth: 24,
};

const STAGES: Readonly<Record<string, string>> = {
  judging: 'Judging',
  features: 'Features',
  training: 'Training',
};

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

function trained(report: Learning): string[] {
  const [now] = report.history;
  const [first, last] = [report.losses[0], report.losses.at(-1)];
  return [
    `Trained on ${countOf(now?.runs ?? 0, 'run')} in ${(now?.seconds ?? 0).toFixed(1)} s.`,
    ...(first === undefined || last === undefined
      ? []
      : [`Loss ${first.toFixed(3)} -> ${last.toFixed(3)} in ${countOf(report.losses.length, 'step')}.`]),
    gateOf(report),
  ];
}

function gateOf({ gate }: Learning): string {
  const { open, gain, ci95, n, far } = gate;
  const figures = `nDCG@10 ${signed(gain)} (95 % interval ${signed(ci95[0])} to ${signed(ci95[1])}) on the ${countOf(n, 'newest run', 'newest runs')}`;
  if (n === 0) return 'The gate is closed: too few runs to evaluate. Search ranks by text alone.';
  const foreign = far.n === 0 ? '' : `; ${signed(far.gain)} on ${countOf(far.n, 'unseen question')}`;
  if (open) return `The gate is open: the trained ranker is in use, ${figures}${foreign}.`;
  return `The gate is closed: the trained ranker has not been shown to beat plain search, ${figures}${foreign}. Search ranks by text alone.`;
}

function tooFew({ runs, least_runs: leastRuns }: Learning): string[] {
  return [
    `${runs === 0 ? 'No runs' : countOf(runs, 'run')} with an intent so far. Training needs at least ${leastRuns}; until then, search ranks by text alone.`,
    'Give each run an "intent", so that PML can learn from it.',
  ];
}

function nothingKnown({ runs, least_runs: leastRuns }: Learning): string[] {
  return [
    `Fewer than ${leastRuns} of the ${countOf(runs, 'run')} used tools that still exist: nothing was trained and nothing was changed.`,
  ];
}

function barOf(training: Learning['training']): string | null {
  if (!training) return null;
  const { stage, done, total, loss } = training;
  const full = Math.round((DEFAULTS.barWidth * done) / Math.max(1, total));
  const bar = '#'.repeat(full).padEnd(DEFAULTS.barWidth, '.');
  return `${(STAGES[stage] ?? stage).padEnd(12)} [${bar}] ${done}/${total}${loss === undefined ? '' : `  loss ${loss.toFixed(3)}`}`;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;
}
