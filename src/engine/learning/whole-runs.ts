import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';

/**
 * Runs as they were from beginning to end: one that waited for a person left a trace each time, with the
 * calls of that time. It used all of them, and how it ended is told by the last.
 */
export function wholeRuns(runs: readonly LearnableRun[]): LearnableRun[] {
  const whole = new Map<string | number, LearnableRun>();
  for (const [i, run] of runs.entries()) {
    const id = run.runId ?? i;
    const before = whole.get(id);
    // In the place of its end.
    whole.delete(id);
    whole.set(id, before ? { ...run, uses: [...before.uses, ...run.uses] } : run);
  }
  return [...whole.values()];
}
