import type { StaticStructure, StructureNode } from '../structure/emit/static-structure.ts';
import type { DerivedTrace } from '../tracing/derive-trace.ts';
import { REDACTED } from '../tracing/redact.ts';
import { kindOf } from '../vocabulary/ids.ts';
import { MAX_PROGRAM } from './template.ts';

const DEFAULTS = {
  /** Independent successful runs that make a candidate active. */
  successfulRuns: 2,
};

export interface AdmissionEvidence {
  /** Successful runs, each started by itself: a resumed run is the run it resumes. */
  readonly successfulRuns: number;
  /** Successful replays of one of them in which every call only read. */
  readonly successfulReplays?: number;
  /** Somebody said what it was for. */
  readonly hasIntent: boolean;
  /** Some run gave something back. */
  readonly hasResult: boolean;
}

/**
 * One success may be luck: a second one, or a replay that changes nothing outside, has to confirm it. Nobody finds, or
 * wants to call, what was never said to be for anything, or gives nothing back.
 */
export function admission({
  successfulRuns,
  successfulReplays = 0,
  hasIntent,
  hasResult,
}: AdmissionEvidence): 'candidate' | 'active' {
  if (!hasIntent || !hasResult) return 'candidate';
  const isConfirmed = successfulRuns >= 1 && successfulReplays >= 1;
  return isConfirmed || successfulRuns >= DEFAULTS.successfulRuns ? 'active' : 'candidate';
}

export interface SuccessfulRun {
  /** As the trace has it: redacted. */
  readonly code: string;
  /** Null when it cannot be told. */
  readonly structure: StaticStructure | null;
  readonly trace: Pick<DerivedTrace, 'executedPath'>;
}

/**
 * Whether a program is worth remembering after it succeeded. Not when it
 * - called no tool and no capability: there is nothing to reuse but arithmetic;
 * - only hands arguments on to one capability, or to one tool: these can be called themselves;
 * - held a secret: what is kept would not run, and must not be kept as it was;
 * - chooses at run time what to call: nobody can tell beforehand what calling it would do;
 * - is as long as a data set.
 */
export function isWorthKeeping({ code, structure, trace }: SuccessfulRun): boolean {
  if (code.length > MAX_PROGRAM || code.includes(REDACTED)) return false;
  if (!structure || structure.unresolved.length > 0) return false;
  const [first, ...others] = structure.nodes;
  // Made in one place and with nothing done to what it gives.
  if (isCall(first) && others.every(({ type }) => type === 'join' || type === 'fork')) return false;
  return trace.executedPath.some((node) => kindOf(node) !== 'operation');
}

function isCall(node: StructureNode | undefined): boolean {
  return node?.type === 'capability' || node?.type === 'task';
}

/** Two-sided 95 %. */
const Z = 1.959963984540054;

/**
 * Lower bound of the success rate that so many trials support (Wilson, "Probable inference, the law
 * of succession, and statistical inference", 1927): 1 of 1 says less than 90 of 100.
 */
export function wilsonLowerBound(successes: number, trials: number): number {
  return trials === 0 ? 0 : Math.max(0, wilsonBound(successes, trials, -1));
}

/** The upper bound of the same interval: below it nothing is shown to lie. */
export function wilsonUpperBound(successes: number, trials: number): number {
  return trials === 0 ? 1 : Math.min(1, wilsonBound(successes, trials, 1));
}

/** Mean of the success rate given its uses, with a prior of three successes in four. */
export function reliabilityOf({ successes, uses }: { successes: number; uses: number }): number {
  return (successes + 3) / (uses + 4);
}

function wilsonBound(successes: number, trials: number, side: -1 | 1): number {
  const rate = successes / trials;
  const spread = (Z * Z) / trials;
  const centre = rate + spread / 2;
  const margin = Z * Math.sqrt((rate * (1 - rate) + spread / 4) / trials);
  return (centre + side * margin) / (1 + spread);
}

/** It ran again as it is, since its tools changed, as often as a candidate has to: what changed did not break it. */
export function worksAllTheSame(outcomesSince: readonly boolean[]): boolean {
  return outcomesSince.length >= DEFAULTS.successfulRuns && outcomesSince.every(Boolean);
}
