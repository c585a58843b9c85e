import type { Candidates, IntentForms } from '../../learning/ranker/candidates.ts';
import { rowOf } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';
import { dot } from '../../numeric/vectors.ts';
import type { TextScores } from '../../retrieval/text-scores.ts';
import { LEAST_TEXT_CHANCE, leadOf, SHIPPED_TEXT_CHANCES, textChance } from '../../retrieval/text-scores.ts';
import type { ChosenTool, DraftedPlan } from './plan-model.ts';

const DEFAULTS = {
  /** Tools that may stand in a plan that only their texts speak for. */
  most: 3,
  /** Chance at the least of the best one, if the intent says all words of its name: among few tools scores are low. */
  named: 0.6,
  /** Cosine of two tools from which one of them will do. */
  rivals: 0.6,
  /** Tools of a run to be expected, before any run was seen, and how many runs that counts for. */
  usualSize: 2.5,
  usualRuns: 5,
  /** What text alone may expect of itself, unless its best tool is as good as certain. */
  mostConfidence: 0.5,
  certain: 0.8,
  /** How far that is ahead of the next: tools of one name on several servers are each as good as certain. */
  ahead: 0.05,
};

/**
 * A plan of the tools whose text fits the intent: what there is where no past run speaks. Of tools that read alike one
 * stands in it. Empty where no text fits. The size is that of greatest expected F1, 2 sum p / (k + m), where m tools
 * are usual. Tools that are ruled out are in no plan, however well their texts fit.
 */
export function textPlan(
  { words }: Pick<IntentForms, 'words'>,
  text: Pick<TextScores, 'whole' | 'lexical' | 'fused'>,
  candidates: Candidates,
  usualSize: number,
  chances = SHIPPED_TEXT_CHANCES,
  ruledOut: ReadonlySet<number> = new Set(),
): DraftedPlan {
  // Until tools are embedded their words speak alone, and for all of the score.
  const scores = text.whole.some((cosine) => cosine !== 0) ? text.fused : text.lexical;
  const best = new TopK(2 * DEFAULTS.most + 2);
  for (let i = 0; i < candidates.tools; i++) {
    if (!ruledOut.has(i)) best.offer(i, scores[i]!);
  }
  const sorted = best.sorted();
  const greatest = sorted.map(({ score }) => score);
  const ranked = sorted.map(({ row }, rank): ChosenTool => {
    const isNamed = rank === 0 && candidates.names[row]!.every((word) => words.includes(word));
    return {
      place: row,
      chance: Math.max(isNamed ? DEFAULTS.named : 0, textChance(chances, greatest, rank)),
    };
  });
  const tools: ChosenTool[] = [];
  let [sum, expected] = [0, 0];
  for (const tool of ranked) {
    const isRival = tools.some(({ place }) => alike(candidates, place, tool.place) >= DEFAULTS.rivals);
    if (isRival || tools.length === DEFAULTS.most) continue;
    const withIt = (2 * (sum + tool.chance)) / (tools.length + 1 + usualSize);
    if (withIt <= expected) break;
    tools.push(tool);
    sum += tool.chance;
    expected = withIt;
  }
  const surest = tools[0]?.chance ?? 0;
  if (surest < LEAST_TEXT_CHANCE) return { tools: [], edges: [], rest: ranked, confidence: 0 };
  const isCertain = surest >= DEFAULTS.certain && leadOf(greatest) >= DEFAULTS.ahead;
  const chosen = new Set(tools.map(({ place }) => place));
  return {
    tools,
    edges: [],
    rest: ranked.filter(({ place }) => !chosen.has(place)),
    confidence: isCertain ? expected : Math.min(DEFAULTS.mostConfidence, expected),
  };
}

/** How many tools a run uses, by those there were. */
export function usualSize(runs: readonly { readonly uses: readonly unknown[] }[]): number {
  const { usualSize: prior, usualRuns } = DEFAULTS;
  const used = runs.reduce((sum, { uses }) => sum + uses.length, 0);
  return (prior * usualRuns + used) / (usualRuns + runs.length);
}

function alike({ vectors }: Candidates, a: number, b: number): number {
  return dot(rowOf(vectors, a), rowOf(vectors, b));
}
