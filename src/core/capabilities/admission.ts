import type { StaticStructure } from '../structure/emit/static-structure.ts';
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
}

/** One success may be luck: a second one, or a replay that changes nothing outside, has to confirm it. */
export function admission({
  successfulRuns,
  successfulReplays = 0,
}: AdmissionEvidence): 'candidate' | 'active' {
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
 * - only hands arguments on to one capability: that one is remembered already;
 * - held a secret: what is kept would not run, and must not be kept as it was;
 * - chooses at run time what to call: nobody can tell beforehand what calling it would do;
 * - is as long as a data set.
 */
export function isWorthKeeping({ code, structure, trace }: SuccessfulRun): boolean {
  if (code.length > MAX_PROGRAM || code.includes(REDACTED)) return false;
  if (!structure || structure.unresolved.length > 0) return false;
  const [first, ...others] = structure.nodes;
  if (first?.type === 'capability' && others.length === 0) return false;
  return trace.executedPath.some((node) => kindOf(node) !== 'operation');
}
