import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import type { LearningReport } from '../../../engine/learning/learning-service.ts';
import { learningToWire } from '../../../operations/shapes/learning.ts';
import type { CommandModule, Terminal } from '../command.ts';
import { countOf, withProgress } from '../command.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

interface Options extends GlobalOptions {
  readonly rollback?: boolean;
}

const DEFAULTS = {
  /** Characters of the progress bar. */
  barWidth: 24,
};

const STAGES = { judging: 'Judging', features: 'Features', training: 'Training' } as const;

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
      withGateway(context, options, 'train', async (gateway) => {
        const told = options.rollback ? await rollBack(gateway) : await train(gateway, terminal);
        if (!told) {
          fail();
          terminal.err('Stopped. Nothing was changed.\n');
          return;
        }
        const { report, sentences } = told;
        if (options.json) terminal.out(`${JSON.stringify(learningToWire(report))}\n`);
        else terminal.out(sentences.map((sentence) => `${sentence}\n`).join(''));
      }),
    );
};

interface Told {
  readonly report: LearningReport;
  readonly sentences: readonly string[];
}

/** Null where it was stopped. */
async function train(gateway: GatewayClient, terminal: Terminal): Promise<Told | null> {
  // The first question may take a while: runs that were imported have no vectors yet.
  const before = await withProgress(terminal, gateway.learningReport(), async () => 'Loading past runs');
  if (before.runs < before.leastRuns) return { report: before, sentences: tooFew(before) };
  let isStopped = false;
  void terminal.untilStopped().then(() => {
    isStopped = true;
    // Where it cannot be asked to stop, the training itself tells.
    return gateway.stopTraining().catch(() => {});
  });
  try {
    const report = await withProgress(terminal, gateway.trainRanker(), async () =>
      barOf((await gateway.learningReport()).training),
    );
    const isNew = report.history[0]?.trainedAt.getTime() !== before.history[0]?.trainedAt.getTime();
    return { report, sentences: isNew ? trained(report) : nothingKnown(report) };
  } catch (error) {
    if (isStopped || PmlError.from(error).code === 'cancelled') return null;
    throw error;
  }
}

async function rollBack(gateway: GatewayClient): Promise<Told> {
  const report = await gateway.rollBackRanker();
  const [now] = report.history;
  if (!now) return { report, sentences: ['No earlier training exists: search ranks by text alone.'] };
  const when = now.trainedAt.toISOString().slice(0, 16).replace('T', ' ');
  return {
    report,
    sentences: [`Rolled back to the training on ${countOf(now.runs, 'run')} at ${when} UTC.`, gateOf(report)],
  };
}

function trained(report: LearningReport): string[] {
  const [now] = report.history;
  const [first, last] = [report.losses[0], report.losses.at(-1)];
  return [
    `Learned from ${countOf(now?.runs ?? 0, 'run')} in ${(now?.seconds ?? 0).toFixed(1)} s.`,
    ...(first === undefined || last === undefined
      ? []
      : [`Loss ${first.toFixed(3)} -> ${last.toFixed(3)} in ${countOf(report.losses.length, 'step')}.`]),
    gateOf(report),
  ];
}

function gateOf({ gate }: LearningReport): string {
  const { open, gain, ci95, n, far } = gate;
  const figures = `nDCG@10 ${signed(gain)} (95 % interval ${signed(ci95[0])} to ${signed(ci95[1])}) on the ${countOf(n, 'newest run', 'newest runs')}`;
  if (n === 0) return 'The gate is closed: too few runs to evaluate. Search ranks by text alone.';
  const foreign = far.n === 0 ? '' : `; ${signed(far.gain)} on ${countOf(far.n, 'unseen question')}`;
  if (open) return `The gate is open: the trained ranker is in use, ${figures}${foreign}.`;
  return `The gate is closed: the trained ranker is not proven better than search, ${figures}${foreign}. Search ranks by text alone.`;
}

function tooFew({ runs, leastRuns }: LearningReport): string[] {
  return [
    `${runs === 0 ? 'No runs' : countOf(runs, 'run')} with an intent so far. Training needs at least ${leastRuns}; until then, search ranks by text alone.`,
    'Give each run an "intent", so that it can be learned from.',
  ];
}

function nothingKnown({ runs, leastRuns }: LearningReport): string[] {
  return [
    `Fewer than ${leastRuns} of the ${countOf(runs, 'run')} used tools that still exist: nothing was trained and nothing was changed.`,
  ];
}

function barOf(training: LearningReport['training']): string | null {
  if (!training) return null;
  const { stage, done, total, loss } = training;
  const full = Math.round((DEFAULTS.barWidth * done) / Math.max(1, total));
  const bar = '#'.repeat(full).padEnd(DEFAULTS.barWidth, '.');
  return `${STAGES[stage].padEnd(12)} [${bar}] ${done}/${total}${loss === undefined ? '' : `  loss ${loss.toFixed(3)}`}`;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;
}
