import type { StaticStructure, StructureNode } from '../structure/emit/static-structure.ts';
import type { DerivedTrace } from '../tracing/derive-trace.ts';
import { REDACTED } from '../tracing/redact.ts';
import { kindOf } from '../vocabulary/ids.ts';
import { MAX_PROGRAM } from './template.ts';

const DEFAULTS = {
  /** Independent successful runs that make a candidate active. */
  successfulRuns: 2,
  /** Latest runs that are looked at. */
  window: 10,
  /** A success rate that is surely lower is too low. */
  minRate: 0.5,
  /** Changes of tools that a reason names. */
  words: 5,
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

export interface QuarantineFacts {
  /** Outcomes since it was admitted or released, oldest first, without those that say nothing of its code. */
  readonly recent: readonly boolean[];
  /** The definitions its tools had when it was learned, by tool id. */
  readonly definitionHashes?: Readonly<Record<string, string>>;
  /** The definition a tool has now; undefined when it is not there, which its calls will tell. */
  readonly currentHash?: (tool: string) => string | undefined;
  /** What a changed definition breaks, in words; empty where it is not known to break anything. */
  readonly breaks?: (tool: string) => readonly string[];
}

/**
 * Why a capability must not be called any more; null when it may. It stays in quarantine until a person
 * releases it, or everything it rests on is as it was: code that ran well with other definitions, or that broke,
 * is not trusted by running it again.
 */
export function quarantineReason({
  recent,
  definitionHashes = {},
  currentHash,
  breaks = () => [],
}: QuarantineFacts): string | null {
  const changed = Object.entries(definitionHashes).filter(([tool, hash]) => {
    const now = currentHash?.(tool);
    return now !== undefined && now !== hash;
  });
  if (changed.length > 0) {
    const [names, verb] = [changed.map(([tool]) => tool).join(', '), changed.length > 1 ? 'have' : 'has'];
    const words = changed.flatMap(([tool]) => breaks(tool));
    const told = words.length === 0 ? '' : ` (${words.slice(0, DEFAULTS.words).join('; ')})`;
    return `${names} ${verb} another definition than when it was learned${told}`;
  }
  return failing(recent.slice(-DEFAULTS.window));
}

/**
 * Some run of latest outcomes, of any length within the window, whose success rate is surely (95 %) below the
 * minimum: the Wilson upper bound of the rate, which is 1 - the lower bound of the failure rate. Looking at all
 * lengths finds a tool that broke just now in spite of a good past: four failures in a row are enough, and so
 * are seven in eight.
 */
function failing(recent: readonly boolean[]): string | null {
  let failures = 0;
  for (let runs = 1; runs <= recent.length; runs++) {
    if (!recent.at(-runs)) failures++;
    if (1 - wilsonLowerBound(failures, runs) < DEFAULTS.minRate)
      return `${failures} of its last ${runs} runs failed`;
  }
  return null;
}

/** A change in the answers of a tool, as a capability that rests on the tool knows it. */
export interface DriftMark {
  readonly tool: string;
  /** When it was noticed, in milliseconds since 1970. */
  readonly since: number;
  /** What changed, in sentences. */
  readonly words: readonly string[];
  /** `broken`: its program reads what changed; `marked`: it does not; `admitted`: it works all the same, as runs or a person showed. */
  readonly state: 'broken' | 'marked' | 'admitted';
}

/** Null where no change breaks it. */
export function driftReason(marks: readonly DriftMark[]): string | null {
  const broken = marks.filter(({ state }) => state === 'broken');
  if (broken.length === 0) return null;
  const told = broken.map(({ tool, words }) => `${tool}: ${words.slice(0, DEFAULTS.words).join('; ')}`);
  return `answers changed since it was learned (${told.join('; ')})`;
}

/** Whether a program names one of these fields, or they are the whole answer. */
export function readsField(code: string, fields: readonly string[]): boolean {
  const words = new Set(code.split(/[^\w$-]+/));
  return fields.some((field) => {
    const name = field.slice(field.lastIndexOf('.') + 1).replaceAll('[]', '');
    return name === '' || words.has(name);
  });
}

/** It ran again as it is, since its tools changed, as often as a candidate has to: what changed did not break it. */
export function worksAllTheSame(outcomesSince: readonly boolean[]): boolean {
  return outcomesSince.length >= DEFAULTS.successfulRuns && outcomesSince.every(Boolean);
}
