import type { Answer } from '../../operations/operation-client.ts';
import { countOf } from './command.ts';

export type Learning = Answer<'get_learning'>;

const DEFAULTS = {
  /** Characters of the progress bar. */
  barWidth: 24,
};

const STAGES: Readonly<Record<string, string>> = {
  judging: 'Judging',
  features: 'Features',
  training: 'Training',
};

export function trained(report: Learning): string[] {
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

export function gateOf({ gate }: Learning): string {
  const { open, gain, ci95, n, far } = gate;
  const figures = `nDCG@10 ${signed(gain)} (95 % interval ${signed(ci95[0])} to ${signed(ci95[1])}) on the ${countOf(n, 'newest run', 'newest runs')}`;
  if (n === 0) return 'The gate is closed: too few runs to evaluate. Search ranks by text alone.';
  const foreign = far.n === 0 ? '' : `; ${signed(far.gain)} on ${countOf(far.n, 'unseen question')}`;
  if (open) return `The gate is open: the trained ranker is in use, ${figures}${foreign}.`;
  return `The gate is closed: the trained ranker has not been shown to beat plain search, ${figures}${foreign}. Search ranks by text alone.`;
}

export function tooFew({ runs, least_runs: leastRuns }: Learning): string[] {
  return [
    `${runs === 0 ? 'No runs' : countOf(runs, 'run')} with an intent so far. Training needs at least ${leastRuns}; until then, search ranks by text alone.`,
    'Give each run an "intent", so that PML can learn from it.',
  ];
}

export function nothingKnown({ runs, least_runs: leastRuns }: Learning): string[] {
  return [
    `Fewer than ${leastRuns} of the ${countOf(runs, 'run')} used tools that still exist: nothing was trained and nothing was changed.`,
  ];
}

export function barOf(training: Learning['training']): string | null {
  if (!training) return null;
  const { stage, done, total, loss } = training;
  const full = Math.round((DEFAULTS.barWidth * done) / Math.max(1, total));
  const bar = '#'.repeat(full).padEnd(DEFAULTS.barWidth, '.');
  return `${(STAGES[stage] ?? stage).padEnd(12)} [${bar}] ${done}/${total}${loss === undefined ? '' : `  loss ${loss.toFixed(3)}`}`;
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;
}
