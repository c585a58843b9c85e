import type { Analysis } from './analysis.ts';
import { type Changes, NO_CHANGES } from './memory.ts';
import { type Cell, isStable, NOTHING_KNOWN, unknownFrom } from './value.ts';

const DEFAULTS = {
  /** Rounds after which whatever still changes is taken to be anything. */
  maxRounds: 4,
};

/**
 * Runs a body that may be run any number of times: what one round leaves, the next one finds, until
 * nothing new is left. `others` are the ways by which a round ended early.
 *
 * While it looks for that state, bodies within the body are only sketched: gone through once, and what
 * they change taken to be anything. They get their own rounds in the last one. So nested loops cost the
 * product of their depth and length, not a power of it.
 */
export function repeat(a: Analysis, run: () => void, others: () => readonly Changes[] = () => []): void {
  a.repeated++;
  const { frontier, isAlive } = a.flow;
  const declared = a.declared;
  // Variables that are declared in the body are new in every round.
  const isCarried = ({ born }: Cell) => born === undefined || born <= declared;
  /** The cells that hold something new after this round. */
  const round = (): Cell[] => {
    a.flow.frontier = frontier;
    a.flow.isAlive = isAlive;
    const changes = a.memory.branch(run);
    const ends = [...(a.flow.isAlive ? [changes] : []), ...others()];
    const carried = [...new Set(ends.flatMap((end) => [...end.keys()]))].filter(isCarried);
    const before = carried.map((cell) => cell.value);
    a.memory.meet([...ends, NO_CHANGES]);
    return carried.filter((cell, i) => !isSettled(before[i] ?? null, cell));
  };
  const blur = (cells: readonly Cell[]) => {
    for (const cell of cells) a.memory.set(cell, unknownFrom(cell.value ?? NOTHING_KNOWN));
  };

  if (a.isSketch) {
    blur(round());
    return;
  }
  const { repeated } = a;
  a.isSketch = true;
  let unsettled = round();
  for (let n = 1; unsettled.length > 0 && n < DEFAULTS.maxRounds; n++) unsettled = round();
  blur(unsettled);
  a.isSketch = false;
  const isWhole = unsettled.length === 0 && a.repeated === repeated;
  if (!isWhole) round();
}

function isSettled(before: Cell['value'], { value }: Cell): boolean {
  return before !== null && value !== null && isStable(before, value);
}
