import type { Analysis } from './analysis.ts';

/**
 * Runs a body that may be run any number of times. What one round leaves, the next one finds, so a body
 * that changes anything around it is gone through twice. Within a second pass the bodies inside are gone
 * through once, which keeps nested loops cheap.
 */
export function repeat(a: Analysis, run: () => void): void {
  const { frontier, state } = a.flow;
  const before = a.declared;
  const changes = a.memory.branch(run);
  a.memory.meet([changes, new Map()]);
  // Variables that are declared in the body are new in every round.
  const isCarried = [...changes.keys()].some(({ born }) => born === undefined || born <= before);
  if (!isCarried || a.isSecondPass) return;
  a.flow.frontier = frontier;
  a.flow.state = state;
  a.isSecondPass = true;
  try {
    a.memory.maybe(run);
  } finally {
    a.isSecondPass = false;
  }
}
