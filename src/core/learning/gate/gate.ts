import type { Random } from '../../numeric/random.ts';
import { type PairedGain, pairedBootstrap } from './paired-bootstrap.ts';

const DEFAULTS = {
  /** With fewer held-back queries there is no evidence, and hybrid search serves. */
  minimum: 10,
  /** Only the newest held-back queries count; this number makes a full window. */
  window: 100,
  /** Mean loss on foreign questions that still counts as none: a rank or two far down the list. */
  harmless: 0.005,
};

/** Gain of the learned ranker over search on some queries. */
export interface GateFigures extends PairedGain {
  /** Number of queries. */
  readonly n: number;
}

/** Whether the learned ranker serves; gain and interval are those on the held-back queries. */
export interface GateState extends GateFigures {
  readonly open: boolean;
  /** The same on foreign questions, which resemble nothing in the past: there the ranker must do no harm. */
  readonly far: GateFigures;
  /** When it was last opened or closed, in milliseconds since 1970; null if never. */
  readonly since: number | null;
}

const NOTHING: GateFigures = { gain: 0, ci95: [0, 0], n: 0 };
export const CLOSED_GATE: GateState = { open: false, ...NOTHING, far: NOTHING, since: null };

/** One value per query, such as reciprocal rank or nDCG, oldest first, all in the same order. */
export interface JudgedQueries {
  readonly learned: readonly number[];
  readonly hybrid: readonly number[];
  /** Queries with the same key are the same work; a number, because the words may be private. */
  readonly keys: readonly number[];
}

/** Evidence from held-back queries and from foreign questions. */
export interface GateEvidence extends JudgedQueries {
  readonly far: JudgedQueries;
}

/** FNV-1a, 32 bits: enough to distinguish the work of one window. */
export function evidenceKey(work: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < work.length; i++) hash = Math.imul(hash ^ work.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

const NOTHING_JUDGED: JudgedQueries = { learned: [], hybrid: [], keys: [] };
export const NO_EVIDENCE: GateEvidence = { ...NOTHING_JUDGED, far: NOTHING_JUDGED };

export interface GateOptions {
  readonly random: Random;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly minimum?: number;
  readonly window?: number;
}

/**
 * The gate's next state. It opens when the whole 95 % interval of the gain lies above 0 and foreign questions do not
 * lose: an interval that includes 0 would admit a ranker that merely repeats hybrid search. It closes when foreign
 * questions lose, when the whole interval lies below 0, when the mean of a full window does, or when too few queries
 * are left. Otherwise it stays as it is: opening takes proof, staying open only takes the absence of harm, so that
 * noise around 0 seldom switches it.
 */
export function decideGate(before: GateState, evidence: GateEvidence, options: GateOptions): GateState {
  const { random, now, minimum = DEFAULTS.minimum, window = DEFAULTS.window } = options;
  const { gain, ci95, n } = figuresOf(evidence, window, random);
  const far = figuresOf(evidence.far, window, random);

  const doesHarm = far.n > 0 && far.gain < -DEFAULTS.harmless;
  const hasProof = n >= minimum && gain > 0 && ci95[0] > 0;
  const hasFailed = n < minimum || ci95[1] < 0 || (n >= window && gain < 0);
  const open = !doesHarm && (before.open ? !hasFailed : hasProof);
  return { open, gain, ci95, n, far, since: open === before.open ? before.since : now };
}

function figuresOf({ learned, hybrid, keys }: JudgedQueries, window: number, random: Random): GateFigures {
  const [ours, theirs] = [learned.slice(-window), hybrid.slice(-window)];
  return { ...pairedBootstrap(ours, theirs, random, { groups: keys.slice(-window) }), n: ours.length };
}
