import type { Analysis } from './analysis.ts';
import { type Changes, NO_CHANGES } from './memory.ts';
import { type Cell, isStable, NOTHING_KNOWN, unknownFrom, type Value } from './value.ts';

const DEFAULTS = {
  /** Rounds after which whatever still changes is taken to be anything. */
  maxRounds: 4,
};

/**
 * Runs a body that may be run any number of times: what one round leaves, the next one finds, until
 * nothing new is left. `others` are the ways by which a round ended early.
 */
export function repeat(a: Analysis, run: () => void, others: () => readonly Changes[] = () => []): void {
  const { frontier, isAlive } = a.flow;
  const declared = a.declared;
  // Variables that are declared in the body are new in every round.
  const isCarried = ({ born }: Cell) => born === undefined || born <= declared;
  for (let round = 1; ; round++) {
    a.flow.frontier = frontier;
    a.flow.isAlive = isAlive;
    const changes = a.memory.branch(run);
    const ends = [...(a.flow.isAlive ? [changes] : []), ...others()];
    const carried = [...new Set(ends.flatMap((end) => [...end.keys()]))].filter(isCarried);
    const before = new Map(carried.map((cell) => [cell, cell.value]));
    a.memory.meet([...ends, NO_CHANGES]);
    if (carried.every((cell) => isSettled(before.get(cell) ?? null, cell.value))) return;
    if (round > DEFAULTS.maxRounds) return;
    if (round < DEFAULTS.maxRounds) continue;
    for (const cell of carried) a.memory.set(cell, unknownFrom(cell.value ?? NOTHING_KNOWN));
  }
}

function isSettled(before: Value | null, after: Value | null): boolean {
  return before !== null && after !== null && isStable(before, after);
}
