import { mean } from '../../learning/gate/metrics.ts';
import type { Candidates, IntentForms } from '../../learning/ranker/candidates.ts';
import { dot, rowOf } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';
import { type RelatedIntents, relateIntents } from '../../retrieval/intent-actions.ts';
import type { TextScores } from '../../retrieval/text-scores.ts';
import {
  LEAST_TEXT_CHANCE,
  leadOf,
  SHIPPED_TEXT_CHANCES,
  type TextChances,
  textChance,
} from '../../retrieval/text-scores.ts';
import type { PlanHistory } from './plan-history.ts';
import type { ChosenTool, DraftedPlan } from './plan-model.ts';
import { type PlanOutcome, PlanRecord } from './plan-record.ts';

const DEFAULTS = {
  /** What the words that two intents share count for beside the cosine of their vectors. */
  overlap: 0.25,
  /** Runs of a job that speak for it, the closest, and how steeply what each says falls off with its distance. */
  speaking: 3,
  steepness: 25,
  /** Cosine below which a past run says nothing. */
  far: 0.2,
  /** Cosines from which a copy is worth something, and all that a copy is, before any has shown what it is worth. */
  other: 0.3,
  near: 0.6,
  worth: 0.9,
  /** Cosine from which a run is taken for the same work. */
  alike: 0.7,
  /** Node F1 of copies, as measured on three data sets: about this much whatever the cosine, */
  confidence: 0.6,
  /** and from this cosine on toward what is to be expected when the same is asked again. */
  same: 0.95,
  sameConfidence: 1,
  /** What a copy of a run that is only somewhat near says of itself at the most. */
  tentative: 0.5,
  /** Tools that may stand in a plan that only their texts speak for. */
  most: 3,
  /** Chance at the least of the best one, if the intent says all words of its name: among few tools scores are low. */
  named: 0.6,
  /** Cosine of two tools from which one of them will do. */
  rivals: 0.53,
  /** Newest runs that tell what copies are worth, where nothing was noted down as they came. */
  replayed: 100,
  /** Tools of a run to be expected, before any run was seen, and how many runs that counts for. */
  usualSize: 2.5,
  usualRuns: 5,
  /** What text alone may expect of itself, unless its best tool is as good as certain. */
  mostConfidence: 0.5,
  certain: 0.8,
  /** How far that is ahead of the next: tools of one name on several servers are each as good as certain. */
  ahead: 0.05,
};

/** The past run that is most like a query. */
export interface ClosestRun {
  readonly run: number;
  readonly cosine: number;
  /** By meaning and by words: what a paraphrase shares with the run differs from job to job. */
  readonly closeness: number;
}

/** The plan of a past run. */
export interface CopiedPlan extends DraftedPlan {
  /** It was asked for the same, not only for something like it. */
  readonly isSame: boolean;
}

export interface LiveCopy extends CopiedPlan {
  /** The F1 that copies of runs as close as this one had so far. */
  readonly expected: number;
}

/**
 * The closest run; of runs in the same words the newest, which may have mended an earlier one. By job, and unless a run
 * was asked for the same, it is the closest one of the job that most speaks for: a single run may read like an intent by
 * chance, so the closest runs that used the same tools speak together (a kernel density, as log-sum-exp).
 */
export function closestRun(
  history: PlanHistory,
  query: Pick<IntentForms, 'intent' | 'words'>,
  isHidden: (run: number) => boolean,
  isByJob: boolean,
): ClosestRun | null {
  const cosines = history.cosines(query.intent);
  const overlaps = history.overlaps(query.words);
  const asked = new Set<string>();
  const close: ClosestRun[] = [];
  for (let run = history.runs.length - 1; run >= 0; run--) {
    const { key } = history.runs[run]!;
    if (isHidden(run) || asked.has(key) || cosines[run]! < DEFAULTS.far) continue;
    asked.add(key);
    const closeness = cosines[run]! + DEFAULTS.overlap * overlaps[run]!;
    close.push({ run, cosine: cosines[run]!, closeness });
  }
  // Stable: of equals the newest comes first.
  close.sort((a, b) => b.closeness - a.closeness);
  const [closest] = close;
  if (!closest || !isByJob || closest.cosine >= DEFAULTS.same) return closest ?? null;
  const jobs = Map.groupBy(close, ({ run }) => history.runs[run]!.uses.toSorted((a, b) => a - b).join());
  let best = { first: closest, score: Number.NEGATIVE_INFINITY };
  for (const runs of jobs.values()) {
    const score = evidenceOf(runs);
    if (score > best.score) best = { first: runs[0]!, score };
  }
  return best.first;
}

/** Of runs of one job, the closest first: that of the first alone, and more the closer the others are to it. */
function evidenceOf(runs: readonly ClosestRun[]): number {
  const { closeness } = runs[0]!;
  const sum = runs
    .slice(0, DEFAULTS.speaking)
    .reduce((all, run) => all + Math.exp(DEFAULTS.steepness * (run.closeness - closeness)), 0);
  return closeness + Math.log(sum) / DEFAULTS.steepness;
}

/** The plan of a run as it was: what was run a moment ago is known now. `trust`: in work of its key to succeed. */
export function copyOf(
  { runs }: PlanHistory,
  { run, cosine, closeness }: ClosestRun,
  isOther: boolean,
  record: PlanRecord,
  trust: number,
): LiveCopy {
  const { uses, edges } = runs[run]!;
  const expected = record.copiedAt(closeness, isOther, priorAt(cosine));
  const confidence =
    trust * (cosine >= DEFAULTS.alike ? confidenceAt(cosine) : Math.min(expected, DEFAULTS.tentative));
  const at = new Map(uses.map((place, i) => [place, i]));
  return {
    tools: uses.map((place) => ({ place, chance: confidence })),
    edges: edges.flatMap(([a, b]) => {
      const [from, to] = [at.get(a), at.get(b)];
      return from === undefined || to === undefined ? [] : [{ from, to, weight: confidence }];
    }),
    rest: [],
    confidence,
    isSame: cosine >= DEFAULTS.same,
    expected,
  };
}

/** The F1 of a copy of a run, where these tools are right. */
export function copiedF1({ runs }: PlanHistory, run: number, right: ReadonlySet<number>): number {
  const made = new Set(runs[run]!.uses);
  return (2 * made.intersection(right).size) / (made.size + right.size);
}

/** What a copy of the closest run that used other tools would have been worth. */
export function copiedElsewhere(
  history: PlanHistory,
  query: Pick<IntentForms, 'intent' | 'words'>,
  right: ReadonlySet<number>,
  isHidden: (run: number) => boolean,
): Pick<PlanOutcome, 'elsewhere'> {
  const isOfJob = (run: number) => copiedF1(history, run, right) === 1;
  const closest = closestRun(history, query, (run) => isHidden(run) || isOfJob(run), false);
  if (!closest) return {};
  const { run, closeness } = closest;
  return { elsewhere: { closeness, copied: copiedF1(history, run, right) } };
}

/** What is copied from, and what texts are of. */
interface ReplayedPast {
  readonly history: PlanHistory;
  readonly candidates: Candidates;
  readonly textChances?: TextChances;
}

/** What plans would have been worth for the newest runs, each by those before it that are not its like. */
export function replayPlans({ history, candidates, textChances }: ReplayedPast): PlanRecord {
  const { runs } = history;
  const usual = usualSizes(runs);
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
    const text = () => textPlan(run, candidates.textScores(run), candidates, usual, textChances);
    return [
      {
        closeness: closest.closeness,
        isOther: asksForOther(related),
        copied: copiedF1(history, closest.run, right),
        byChance: chanceF1(history, right, (other) => !isHidden(other)),
        learned: null,
        text: null,
        ...copiedElsewhere(history, run, right, isUnseen),
        ...textOfFirst(history, right, (other) => !isHidden(other), text),
      },
    ];
  });
  return new PlanRecord(outcomes);
}

/** What the tools whose texts fit were worth for the first run of a job: there they have to do. */
export function textOfFirst(
  history: PlanHistory,
  right: ReadonlySet<number>,
  isSeen: (run: number) => boolean,
  planned: () => DraftedPlan,
): Pick<PlanOutcome, 'textOfFirst'> {
  if (history.runs.some((_, run) => isSeen(run) && copiedF1(history, run, right) === 1)) return {};
  const { tools, confidence } = planned();
  const made = new Set(tools.map(({ place }) => place));
  const f1 = (2 * made.intersection(right).size) / (made.size + right.size);
  return made.size > 0 ? { textOfFirst: { expected: confidence, f1 } } : {};
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

/** All near runs that say what is to be done say something else. */
export function asksForOther({ others, negates }: Pick<RelatedIntents, 'others' | 'negates'>): boolean {
  return others === 1 || negates;
}

function confidenceAt(cosine: number): number {
  const { confidence, same, sameConfidence } = DEFAULTS;
  const share = Math.min(1, Math.max(0, (cosine - same) / (1 - same)));
  return confidence + share * (sameConfidence - confidence);
}

/** Before any copy has shown what it is worth: the vectors of work of another kind are seldom half alike. */
function priorAt(cosine: number): number {
  const { other, near, worth, same } = DEFAULTS;
  if (cosine < near) return worth * Math.max(0, (cosine - other) / (near - other));
  return worth + (1 - worth) * Math.min(1, Math.max(0, (cosine - same) / (1 - same)));
}

/**
 * A plan of the tools whose text fits the intent: what there is where no past run speaks. Of tools that read alike one
 * stands in it. Empty where no text fits. The size is that of greatest expected F1, the mean of 2 sum p / (k + m) over
 * the sizes m that runs have. Tools that are ruled out are in no plan, however well their texts fit.
 */
export function textPlan(
  { words }: Pick<IntentForms, 'words'>,
  text: Pick<TextScores, 'whole' | 'lexical' | 'fused'>,
  candidates: Candidates,
  usual: readonly number[],
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
  const alone = sorted.map(({ row }, rank): ChosenTool => {
    const isNamed = rank === 0 && candidates.names[row]!.every((word) => words.includes(word));
    return {
      place: row,
      chance: Math.max(isNamed ? DEFAULTS.named : 0, textChance(chances, greatest, rank)),
    };
  });
  const ranked = noMoreThan(mean(usual), alone);
  const tools: ChosenTool[] = [];
  let [sum, expected] = [0, 0];
  for (const tool of ranked) {
    const isRival = tools.some(({ place }) => alike(candidates, place, tool.place) >= DEFAULTS.rivals);
    if (isRival || tools.length === DEFAULTS.most) continue;
    const size = tools.length + 1;
    const withIt = 2 * (sum + tool.chance) * mean(usual.map((right) => 1 / (size + right)));
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

/** The first keeps its chance: of the others no more are right than is usual without it. */
function noMoreThan(usual: number, [first, ...others]: readonly ChosenTool[]): ChosenTool[] {
  if (!first) return [];
  const expected = others.reduce((sum, { chance }) => sum + chance, 0);
  const share = Math.min(1, Math.max(0, usual - first.chance) / (expected || 1));
  return [first, ...others.map(({ place, chance }) => ({ place, chance: share * chance }))];
}

/** How many tools runs use: those there were, and a few as they are elsewhere. */
export function usualSizes(runs: readonly { readonly uses: readonly unknown[] }[]): number[] {
  const { usualSize, usualRuns } = DEFAULTS;
  return [...new Array<number>(usualRuns).fill(usualSize), ...runs.map(({ uses }) => uses.length)];
}

function alike({ vectors }: Candidates, a: number, b: number): number {
  return dot(rowOf(vectors, a), rowOf(vectors, b));
}
