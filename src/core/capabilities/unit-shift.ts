import { medianOf } from './answer-shape.ts';

const DEFAULTS = {
  /** Numbers kept of one field, the newest. */
  kept: 40,
  /** How many of the newest may be of another unit: each is tried. */
  lengths: [6, 8, 10, 12],
  /** Numbers before them, at least. */
  before: 10,
  /** A smaller factor is how numbers vary, in log10. */
  leastShift: Math.log10(1.8),
  /** The chance of complete separation without a change, at the most. */
  chance: 1e-6,
  /** Standard deviations of the rank sum from its mean, where the two overlap. */
  leastZ: 4.5,
  /** Each side must stay where it is: its halves differ by at most this share of the shift. */
  drifting: 0.34,
  /** Different questions on each side, at least. */
  questions: 4,
  /** Fewer questions do where both sides together are so narrow, as a share of the shift. */
  narrow: 0.5,
  /** The same question with so nearly the same number, in log10: the unit has not changed. */
  same: 0.05,
};

/** The magnitudes of one number over time, oldest first, with the question each answers. Plain JSON. */
export interface Magnitudes {
  readonly logs: number[];
  readonly questions: number[];
}

export function addMagnitude({ logs, questions }: Magnitudes, log: number, question: number): void {
  logs.push(Math.round(log * 1e4) / 1e4);
  questions.push(question);
  if (logs.length > DEFAULTS.kept) {
    logs.shift();
    questions.shift();
  }
}

export interface UnitShift {
  /** How many of the newest numbers are shifted. */
  readonly length: number;
  /** Numbers now, as a multiple of those before. */
  readonly factor: number;
  /** Medians of the logarithms. */
  readonly before: number;
  readonly after: number;
  /** Of such a shift without a change. */
  readonly chance: number;
}

/**
 * Whether the newest numbers are on another scale than those before. The numbers are taken as exchangeable while nothing
 * changes: then all of the m newest of n + m exceed the others with a chance of 1 / C(n + m, m), whatever they are
 * distributed like, and where the two overlap their rank sum is nearly normal (Mann and Whitney, "On a test of whether one
 * of two random variables is stochastically larger than the other", 1947). A trend is not a break: both sides must stay
 * where they are. And where the same question still gets the same number, no unit has changed.
 */
export function unitShift(numbers: Magnitudes): UnitShift | null {
  for (const length of DEFAULTS.lengths) {
    const found = shiftAt(numbers, length);
    if (found) return found;
  }
  return null;
}

/** Whether magnitudes of something else broke at the same place, which then explains it. */
export function breaksToo({ logs }: Magnitudes, length: number): boolean {
  const at = logs.length - length;
  if (at < 1) return false;
  const shift = medianOf(logs.slice(at)) - medianOf(logs.slice(0, at));
  return Math.abs(shift) >= DEFAULTS.leastShift;
}

function shiftAt({ logs, questions }: Magnitudes, length: number): UnitShift | null {
  const at = logs.length - length;
  if (at < DEFAULTS.before) return null;
  const [old, now] = [logs.slice(0, at), logs.slice(at)];
  const [before, after] = [medianOf(old), medianOf(now)];
  const shift = after - before;
  if (Math.abs(shift) < DEFAULTS.leastShift) return null;
  const chance = chanceOf(old, now);
  if (chance === null || isMoving(old, shift) || isMoving(now, shift)) return null;
  const asked = [new Set(questions.slice(0, at)), new Set(questions.slice(at))] as const;
  const isNarrow = spreadOf(old) + spreadOf(now) <= DEFAULTS.narrow * Math.abs(shift);
  if (!isNarrow && asked.some(({ size }) => size < DEFAULTS.questions)) return null;
  const isSameAnswer = now.some((log, i) =>
    old.some((other, j) => questions[at + i] === questions[j] && Math.abs(log - other) <= DEFAULTS.same),
  );
  return isSameAnswer ? null : { length, factor: 10 ** shift, before, after, chance };
}

/** Null where it is not small enough. */
function chanceOf(old: readonly number[], now: readonly number[]): number | null {
  const isApart = Math.max(...old) < Math.min(...now) || Math.max(...now) < Math.min(...old);
  if (isApart) {
    let chance = 2;
    for (let i = 1; i <= now.length; i++) chance *= i / (old.length + i);
    return chance <= DEFAULTS.chance ? chance : null;
  }
  const [n, m] = [old.length, now.length];
  let above = 0;
  for (const a of now) for (const b of old) above += a > b ? 1 : a === b ? 0.5 : 0;
  const z = Math.abs(above - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  // Of a normal tail: exp(-z^2 / 2) bounds both sides together.
  return z >= DEFAULTS.leastZ ? Math.exp(-(z * z) / 2) : null;
}

function isMoving(side: readonly number[], shift: number): boolean {
  const middle = side.length >> 1;
  const moved = medianOf(side.slice(middle)) - medianOf(side.slice(0, middle));
  return Math.abs(moved) > DEFAULTS.drifting * Math.abs(shift);
}

function spreadOf(side: readonly number[]): number {
  return Math.max(...side) - Math.min(...side);
}
