import { InvalidArgumentError, Option } from 'commander';
import {
  type CautionFigures,
  type EvaluationReport,
  type Gain,
  type NextFigures,
  PROTOCOLS,
  type RankingFigures,
} from '../../../core/vocabulary/evaluation-report.ts';
import type { CommandModule, Terminal } from '../command.ts';
import { columns } from '../command.ts';
import type { EvaluateOptions } from '../system.ts';

interface Options extends EvaluateOptions {
  readonly json?: boolean;
}

const RANKING = ['mrr', 'hit1', 'hit3', 'recall5', 'ndcg10'] as const satisfies (keyof RankingFigures)[];
const NEXT = ['hit1', 'hit3', 'mrr'] as const satisfies (keyof NextFigures)[];
const PLAN = ['node_f1', 'edge_f1', 'exact', 'ece'] as const;
const ERASE_LINE = '\r\u001b[K';

export const evalCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('eval')
    .description('measure search and learned ranking on a data set')
    .requiredOption('--data <dir>', 'folder of one or several data sets')
    .option('--split <name>', 'tasks to measure on: the file tasks.<name>.jsonl', 'dev')
    .addOption(
      new Option('--tasks <kind>', 'tasks with their correct tools, or recorded runs')
        .choices(['tasks', 'traces'])
        .default('tasks'),
    )
    .addOption(
      new Option('--protocol <name>', 'how training and test tasks are separated')
        .choices(PROTOCOLS)
        .default('id'),
    )
    .option(
      '--distractors <file>',
      'additional tools that are correct for no task (JSON lines, may be gzipped)',
    )
    .option('--train <file>', 'train on these tasks instead')
    .option('--test <file>', 'measure on these tasks instead')
    .option('--curve', 'also measure a learning curve with fewer past runs')
    .option('--draws <number>', 'random samples for each point of the curve', parseCount, 1)
    .option('--seed <number>', 'random seed', parseSeed, 1)
    .addHelpText('after', '\nExample:\n  $ pml eval --data data/livemcp --protocol cv5 --json')
    .action(async (options: Options) => {
      const reports = await system.evaluate(options, progressOn(terminal));
      if (terminal.isTty) terminal.err(ERASE_LINE);
      for (const report of reports) warnOfOverlap(terminal, report);
      if (options.json) terminal.out(`${JSON.stringify(reports.length === 1 ? reports[0] : reports)}\n`);
      else terminal.out(reports.map(readable).join('\n'));
    });
};

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new InvalidArgumentError('It must be a whole number.');
  return seed;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It must be 1 or more.');
  return count;
}

/** One line that is written over; nothing where nobody watches. */
function progressOn(terminal: Terminal) {
  return (what: string, done?: number, total?: number): void => {
    if (!terminal.isTty) return;
    const share = done === undefined || total === undefined ? '' : ` ${done}/${total}`;
    terminal.err(`${ERASE_LINE}${what}${share}`);
  };
}

function warnOfOverlap(terminal: Terminal, { dataset, overlap, n }: EvaluationReport): void {
  if (overlap === 0) return;
  const were = overlap === 1 ? 'was' : 'were';
  terminal.err(`${dataset}: ${overlap} of ${n} test tasks ${were} also in the training set, word for word\n`);
}

function readable(report: EvaluationReport): string {
  const { dataset, split, protocol, n, train, seed, tools, embedding, seconds, next, plan, caution } = report;
  const lines = [
    `${dataset} (${split}, ${protocol}): ${n} tasks after ${train}, ${tools} tools, ${embedding}, seed ${seed}, ${seconds.toFixed(1)} s\n`,
    tableOf('ranking', RANKING, report.ranking),
    '\n',
    gainTable(report.gains),
    ...(next ? ['\n', tableOf('next tool', NEXT, next)] : []),
    ...(plan ? ['\n', tableOf('plan', PLAN, { learned: plan })] : []),
    ...(caution ? ['\n', cautionTable(caution)] : []),
    ...(report.curve ? ['\n', curveTable(report.curve)] : []),
  ];
  return lines.join('');
}

function tableOf<K extends string>(
  title: string,
  names: readonly K[],
  rows: Readonly<Record<string, Readonly<Record<K, number>> | null>>,
): string {
  const measured = Object.entries(rows).flatMap(([name, figures]) =>
    figures ? [[name, ...names.map((figure) => figures[figure].toFixed(3))]] : [],
  );
  return columns([[title, ...names], ...measured]);
}

function gainTable(gains: EvaluationReport['gains']): string {
  const rows = Object.entries(gains).map(([name, { mrr, ndcg10 }]) => [
    name.replace('_', ' '),
    withInterval(mrr),
    withInterval(ndcg10),
  ]);
  return columns([['learned', 'mrr (95 %)', 'ndcg10 (95 %)'], ...rows]);
}

function withInterval({ gain, ci95 }: Gain): string {
  const [low, high] = ci95.map(signed);
  return `${signed(gain)} (${low} to ${high})`;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;
}

function cautionTable({ never_used, opposites, ...plans }: CautionFigures): string {
  const rows = [
    ['far plans', plans.plans, plans.wrong_above_half, plans.would_run, plans.longest_plan],
    ...(opposites ? [['opposites', opposites.n, opposites.wrong_above_half, opposites.would_run, '']] : []),
  ].map((row) => row.map(String));
  const { n, learned_mrr, hybrid_mrr } = never_used;
  return [
    columns([['caution', 'n', 'wrong, sure', 'would run', 'longest'], ...rows]),
    '\n',
    columns([
      ['never used', 'n', 'learned mrr', 'hybrid mrr'],
      ['tools', String(n), learned_mrr.toFixed(3), hybrid_mrr.toFixed(3)],
    ]),
  ].join('');
}

function curveTable(curve: NonNullable<EvaluationReport['curve']>): string {
  const rows = curve.map((point) => [
    String(point.traces),
    point.semantic_mrr.toFixed(3),
    point.hybrid_mrr.toFixed(3),
    point.learned_mrr.toFixed(3),
    withInterval(point.over_hybrid),
  ]);
  return columns([['past runs', 'semantic mrr', 'hybrid mrr', 'learned mrr', 'over hybrid (95 %)'], ...rows]);
}
