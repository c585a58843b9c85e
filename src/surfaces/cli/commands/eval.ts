import { InvalidArgumentError, Option } from 'commander';
import {
  type CautionFigures,
  type EvaluationReport,
  type Gain,
  type NextFigures,
  PROTOCOLS,
  type Protocol,
  type RankingFigures,
} from '../../../core/vocabulary/evaluation-report.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { StreamReport } from '../../../core/vocabulary/stream-report.ts';
import { type CommandModule, columns, type Terminal } from '../command.ts';
import type { EvaluateOptions } from '../system.ts';

interface Options extends Omit<EvaluateOptions, 'protocol'> {
  readonly protocol: Protocol | typeof STREAM;
  readonly pause?: number;
  readonly json?: boolean;
}

/** A gateway in use, run by run; the other protocols learn from all past runs at once. */
const STREAM = 'stream';

const RANKING = ['mrr', 'hit1', 'hit3', 'recall5', 'ndcg10'] as const satisfies (keyof RankingFigures)[];
const NEXT = ['hit1', 'hit3', 'mrr'] as const satisfies (keyof NextFigures)[];
const PLAN = ['node_f1', 'edge_f1', 'exact', 'ece'] as const;
const ERASE_LINE = '\r\u001b[K';

export const evalCommand: CommandModule = (program, { system, terminal }) => {
  program
    .command('eval')
    .description('measure search and learned ranking on a data set')
    .requiredOption('--data <dir>', 'folder with one or more data sets')
    .option('--split <name>', 'tasks to measure on: the file tasks.<name>.jsonl', 'dev')
    .addOption(
      new Option('--tasks <kind>', 'tasks with their correct tools, or recorded runs')
        .choices(['tasks', 'traces'])
        .default('tasks'),
    )
    .addOption(
      new Option('--protocol <name>', 'how training and test tasks are separated')
        .choices([...PROTOCOLS, STREAM])
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
    .option(
      '--pause <ms>',
      'with stream: milliseconds between runs (default: until everything is learned)',
      parsePause,
    )
    .option('--seed <number>', 'random seed', parseSeed, 1)
    .addHelpText('after', '\nExample:\n  $ pml eval --data data/livemcp --protocol cv5 --json')
    .action(async ({ protocol, pause, ...rest }: Options) => {
      if (protocol === STREAM) {
        const reports = await system.stream(
          { ...rest, ...(pause !== undefined && { pause }) },
          progressOn(terminal),
        );
        if (terminal.isTty) terminal.err(ERASE_LINE);
        print(terminal, reports, streamTable, rest.json);
        return;
      }
      if (pause !== undefined) {
        throw new PmlError('usage', '--pause is only for --protocol stream', {
          hint: 'Add --protocol stream, or omit --pause.',
        });
      }
      const options = { ...rest, protocol };
      const reports = await system.evaluate(options, progressOn(terminal));
      if (terminal.isTty) terminal.err(ERASE_LINE);
      for (const report of reports) warnOfOverlap(terminal, report);
      print(terminal, reports, readable, rest.json);
    });
};

function print<T>(
  terminal: Terminal,
  reports: readonly T[],
  table: (report: T) => string,
  isJson = false,
): void {
  if (isJson) terminal.out(`${JSON.stringify(reports.length === 1 ? reports[0] : reports)}\n`);
  else terminal.out(reports.map(table).join('\n'));
}

function parsePause(text: string): number {
  const pause = Number(text);
  if (!Number.isSafeInteger(pause) || pause < 0) throw new InvalidArgumentError('It must be 0 or more.');
  return pause;
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new InvalidArgumentError('Must be a whole number.');
  return seed;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('Must be 1 or more.');
  return count;
}

/** A progress line that is overwritten, shown on a terminal only. */
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

function streamTable(report: StreamReport): string {
  const { dataset, n, jobs, tools, embedding, seed, pause_ms, seconds, windows } = report;
  const pause = pause_ms === null ? 'learned after each run' : `${pause_ms} ms between runs`;
  const figure = (value: number | null) => value?.toFixed(3) ?? '';
  return [
    `${dataset} (stream, ${pause}): ${n} runs of ${jobs} jobs, ${tools} tools, ${embedding}, seed ${seed}, ${seconds.toFixed(1)} s\n`,
    columns([
      ['runs', 'jobs seen', 'mrr', 'hybrid', 'plan f1', 'copying', 'routine f1', 'arguments', 'gate'],
      ...windows.map((each) => [
        `${each.from}-${each.to}`,
        String(each.n),
        ...[
          each.mrr,
          each.hybrid_mrr,
          each.plan_f1,
          each.copying_f1,
          each.routine_f1,
          each.arguments_right,
        ].map(figure),
        each.gate_open ? 'open' : 'closed',
      ]),
    ]),
  ].join('');
}
