import { type FollowStatistics, sequenceOf } from '../../learning/next/follow-statistics.ts';
import type { LearnedNext } from '../../learning/next/learn-next.ts';
import {
  BINARY_LABELS,
  chanceOfYes,
  doneFeatures,
  nextFeatures,
  nextQuery,
  repeatFeatures,
} from '../../learning/next/next-features.ts';
import type { IntentForms } from '../../learning/ranker/candidates.ts';
import type { RankModel } from '../../learning/ranker/rank-model.ts';
import { softmax } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';

const DEFAULTS = { limit: 5 };

/** The answer that nothing is left to do, listed with the ids of candidates. */
export const DONE_NODE = 'done';

/** One answer to "what comes next?" */
export interface NextAnswer {
  /** Tool id, node id of a capability, or `done`. */
  readonly node: string;
  /** Its probability: those of all candidates and of being done add up to 1. */
  readonly score: number;
  /** In plain words, for people. */
  readonly reason: string;
}

/** The probability of each candidate and of the end of the run, with the evidence for both. */
interface NextScores {
  /** [candidates], if the run continues: they add up to 1. */
  readonly chances: Float64Array;
  readonly done: number;
  readonly statistics: FollowStatistics;
}

/**
 * Several moments of one run: what is the same for all of them is worked out once. Each is the places of what
 * has been called so far, in order, repeats kept.
 */
export function scoreSteps(
  { candidates, history, model, weights }: LearnedNext,
  intent: IntentForms,
  moments: readonly (readonly number[])[],
): NextScores[] {
  const query = nextQuery(intent, candidates, history, weights && { weights });
  return moments.map((before) => {
    const { features, statistics } = nextFeatures(query, before, candidates, history);
    const { intent } = query;
    const [logits] = model.others.forward({ candidates, examples: [{ features, intent }] });
    const last = before.at(-1);
    // Nothing is over before it has begun.
    if (last === undefined) return { chances: softmax(logits!), done: 0, statistics };
    const chance = (question: RankModel, answer: Float32Array) =>
      chanceOfYes(
        question.forward({ candidates: BINARY_LABELS, examples: [{ features: answer, intent }] })[0]!,
      );
    const done = chance(model.done, doneFeatures(statistics, before, query.chances));
    // Without any run, what was called last is like any other.
    if (history.sequences.length === 0) return { chances: softmax(logits!), done, statistics };
    const again = chance(model.again, repeatFeatures(statistics, before));
    logits![last] = Number.NEGATIVE_INFINITY;
    const chances = softmax(logits!).map((each) => (1 - again) * each);
    chances[last] = again;
    return { chances, done, statistics };
  });
}

/** The likeliest answers, best first. What was executed and is not known here is passed over. */
export function predictNext(
  learned: LearnedNext,
  intent: IntentForms,
  executed: readonly string[],
  limit = DEFAULTS.limit,
): NextAnswer[] {
  const { candidates } = learned;
  const before = sequenceOf(candidates, executed);
  const { chances, done, statistics } = scoreSteps(learned, intent, [before])[0]!;
  const best = new TopK(limit);
  for (const [place, chance] of chances.entries()) best.offer(place, (1 - done) * chance);
  const lastId = candidates.ids[before.at(-1) ?? -1];
  const answers: NextAnswer[] = best.sorted().map(({ row, score }) => ({
    node: candidates.ids[row]!,
    score,
    reason: reasonFor(candidates.ids[row]!, lastId, statistics.after[row]!, statistics.seen),
  }));
  if (before.length > 0)
    answers.push({ node: DONE_NODE, score: done, reason: endReason(lastId!, statistics) });
  return answers.sort((a, b) => b.score - a.score).slice(0, limit);
}

/** The same without a model, by counts alone. */
export function followReason(node: string, last: string, times: number, runs: number): string {
  if (node === DONE_NODE) return `${times} of ${runs} runs with ${last} ended after it`;
  return reasonFor(node, last, times, runs);
}

function reasonFor(id: string, last: string | undefined, times: number, runs: number): string {
  if (last === undefined || times === 0) return 'fits the intent';
  if (id === last) return `was called again right away in ${times} of ${runs} runs`;
  return `followed ${last} in ${times} of ${runs} runs`;
}

function endReason(last: string, { ended, seen, ends }: FollowStatistics): string {
  if (ended > 0) return `${ended} of ${seen} runs with ${last} ended after it`;
  if (ends.usualSteps > 0) return `runs of similar intents take about ${Math.round(ends.usualSteps)} steps`;
  return 'no past run shows this';
}
