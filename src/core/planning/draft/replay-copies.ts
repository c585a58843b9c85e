import { mean } from '../../learning/gate/metrics.ts';
import { relateIntents } from '../../retrieval/intent-actions.ts';
import type { PlanHistory } from './plan-history.ts';
import { type PlanOutcome, PlanRecord } from './plan-record.ts';
import { asksForOther, closestRun, copiedElsewhere, copiedF1 } from './unlearned-plans.ts';

const DEFAULTS = {
  /** Newest runs that tell what copies are worth, where nothing was noted down as they came. */
  replayed: 100,
};

/** What copies would have been worth for the newest runs, each by those before it that are not its like. */
export function replayCopies(history: PlanHistory): PlanRecord {
  const { runs } = history;
  const first = Math.max(0, runs.length - DEFAULTS.replayed);
  const outcomes = runs.slice(first).flatMap((run, i): PlanOutcome[] => {
    const isHidden = (other: number) => other >= first + i || runs[other]!.key === run.key;
    // As if those that are hidden lay far away.
    const cosines = history.cosines(run.intent).map((cosine, other) => (isHidden(other) ? -1 : cosine));
    const related = relateIntents(run.text, runs, cosines);
    const isUnseen = (other: number) => isHidden(other) || related.opposed.has(other);
    const closest = closestRun(history, run, isUnseen, false);
    if (!closest) return [];
    const right = new Set(run.uses);
    return [
      {
        closeness: closest.closeness,
        isOther: asksForOther(related),
        copied: copiedF1(history, closest.run, right),
        byChance: chanceF1(history, right, (other) => !isHidden(other)),
        learned: null,
        text: null,
        ...copiedElsewhere(history, run, right, isUnseen),
      },
    ];
  });
  return new PlanRecord(outcomes);
}

/** Of a copy of any run that may be seen, by the newest of these. */
export function chanceF1(
  history: PlanHistory,
  right: ReadonlySet<number>,
  isSeen: (run: number) => boolean,
): number {
  const seen = [...history.runs.keys()].filter(isSeen).slice(-DEFAULTS.replayed);
  return mean(seen.map((run) => copiedF1(history, run, right)));
}
