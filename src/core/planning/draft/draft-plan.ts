import type { Candidates, IntentForms } from '../../learning/ranker/candidates.ts';
import { narrownessOf } from '../../learning/ranker/familiarity.ts';
import type { Ranker, Ranking } from '../../learning/ranker/ranker.ts';
import { relateIntents } from '../../retrieval/intent-actions.ts';
import { SHIPPED_TEXT_CHANCES, type TextChances } from '../../retrieval/text-scores.ts';
import { type CopiedPlan, copyNearestRun } from './copy-run.ts';
import type { EdgeTexts } from './edge-features.ts';
import type { HistoryView, PlanHistory } from './plan-history.ts';
import { type DraftedPlan, PlanModel, type PlanNets } from './plan-model.ts';
import { nearestRuns } from './run-votes.ts';
import { textPlan, usualSize } from './text-plan.ts';

const DEFAULTS = {
  /** Trust in past runs below which tools are taken by their text instead. */
  leastTrust: 0.5,
  /** Cosines at which a past run is of another kind, and of the same. */
  far: 0.5,
  near: 0.75,
  /** How far below what is usual a run may be, as a cosine, before it says nothing. */
  band: 0.3,
  /** Cosine from which a past run supports a plan. */
  supports: 0.7,
  /** Where nothing speaks for a plan, so that a diverse past still has its say. */
  least: 0.01,
  /** Confidence at the most where the run most like it asked for the opposite. */
  opposed: 0.4,
  /** Narrowness of a past above which a plan that no near run supports, or that they dispute, expects at most this. */
  narrow: 0.3,
  unproven: 0.5,
  /**
   * Runs that speak against a learned plan that no near run supports: with n runs, n / (n + doubt) of its confidence
   * counts. Plans learn what to expect of themselves from runs that the ranker has seen, and a few it knows by heart.
   */
  doubt: 12,
  /** Tasks of a plan at the most, unless a near run had more. */
  mostTasks: 12,
};

/** What a plan rests on. */
export type PlanBasis = 'runs' | 'text' | 'nothing';

export interface GroundedPlan extends DraftedPlan {
  readonly basis: PlanBasis;
  /** Near runs that used all its tools. */
  readonly support: number;
}

export interface PlanningPast {
  readonly candidates: Candidates;
  readonly history: PlanHistory;
  readonly texts: EdgeTexts;
  /** Null before anything was learned. */
  readonly ranker: Ranker | null;
  readonly nets: PlanNets | null;
  /** How far work of a key is trusted to succeed. */
  readonly trustIn: (key: string) => number;
  readonly textChances?: TextChances;
}

/**
 * A plan that rests on evidence: runs of the same kind, else tools whose text fits, else nothing. Runs that asked for
 * the opposite count as no evidence, and what only forbids them asks for nothing. Between near and far, confidence is that
 * of both, each as far as it applies.
 */
export function draftPlan(past: PlanningPast, query: IntentForms): GroundedPlan {
  const { candidates, history, ranker, textChances = SHIPPED_TEXT_CHANCES } = past;
  const cosines = history.cosines(query.intent);
  const { opposed, alike, others, forbids, negates } = relateIntents(query.text, history.runs, cosines);
  const view = history.hiding(opposed);
  if (forbids && isOpposed(view, cosines))
    return { tools: [], edges: [], rest: [], confidence: 0, basis: 'nothing', support: 0 };
  const ranking = ranker?.rank(query) ?? null;
  const text = textPlan(
    query,
    ranking?.text ?? candidates.textScores(query),
    candidates,
    usualSize(history.runs),
    textChances,
    doneByOpposites(history, view, cosines),
  );
  const copied = copyNearestRun(view, cosines, past.trustIn);
  const learned = learnedPlan(past, query, ranking);
  const plan = better(copied, learned);
  const trust = plan
    ? trustIn(plan, text, familiarityIn(past, ranking, view, cosines), view, cosines, others === 1)
    : 0;
  const isNarrow = narrownessIn(history) > DEFAULTS.narrow;
  if (!plan || trust < DEFAULTS.leastTrust) {
    // What runs used, and yet are not trusted with, is what they asked for in words that mean something else.
    const isUsed = text.tools.some(({ place }) => history.runsOf[place]!.length > 0);
    const isDisputed = (isNarrow && isUsed) || negates;
    return {
      ...text,
      confidence: isDisputed ? Math.min(text.confidence, DEFAULTS.unproven) : text.confidence,
      basis: text.tools.length > 0 ? 'text' : 'nothing',
      support: 0,
    };
  }
  const mixed = trust * plan.confidence + (1 - trust) * Math.min(plan.confidence, text.confidence);
  const short = shortened(plan, longestNear(view, cosines));
  const support = namesOther(candidates, short, query, view, cosines)
    ? 0
    : supportOf(short, view, cosines, alike);
  const runs = history.runs.length;
  const isDoubtful = support === 0 && plan === learned;
  const confidence =
    (isDoubtful ? (mixed * runs) / (runs + DEFAULTS.doubt) : mixed) *
    (1 - chanceOfOther(text, plan, ranking));
  const grounds = { ...short, basis: 'runs' as const };
  if (isOpposed(view, cosines))
    return { ...grounds, confidence: Math.min(confidence, DEFAULTS.opposed), support: 0 };
  const isUnproven = support === 0 && isNarrow;
  return {
    ...grounds,
    confidence: isUnproven ? Math.min(confidence, DEFAULTS.unproven) : confidence,
    support,
  };
}

/** The chance of what fits best by its text, where runs say nothing of it and the plan does without. */
function chanceOfOther(text: DraftedPlan, { tools, isSame }: RunsPlan, ranking: Ranking | null): number {
  const [favourite] = text.tools;
  if (isSame || !favourite || !ranking?.news.includes(favourite.place)) return 0;
  return tools.some(({ place }) => place === favourite.place) ? 0 : favourite.chance;
}

/** What was used where the opposite was asked for and nowhere else: that a text reads alike speaks against it. */
function doneByOpposites(
  { runs }: PlanHistory,
  view: HistoryView,
  cosines: ArrayLike<number>,
): ReadonlySet<number> {
  const used = (isHidden: boolean) =>
    new Set(
      runs.flatMap(({ uses }, i) =>
        cosines[i]! >= DEFAULTS.far && view.isHidden(i) === isHidden ? uses : [],
      ),
    );
  return used(true).difference(used(false));
}

/** A word of the query is in the name of another tool, and neither the plan's tools nor near runs with them know it. */
function namesOther(
  candidates: Candidates,
  { tools }: DraftedPlan,
  { words }: IntentForms,
  view: HistoryView,
  cosines: ArrayLike<number>,
): boolean {
  const places = new Set(tools.map(({ place }) => place));
  const near = nearestRuns(cosines, view).map(({ row }) => view.history.runs[row]!);
  const known = new Set([
    ...[...places].flatMap((place) => candidates.wordsOf(place)),
    ...near.filter(({ uses }) => uses.some((place) => places.has(place))).flatMap(({ words: said }) => said),
  ]);
  return words.some((word) => candidates.placesByWord.has(word) && !known.has(word));
}

function narrownessIn({ runs }: PlanHistory): number {
  return narrownessOf(runs.map(({ uses }) => uses));
}

/**
 * How far a plan made of past runs is one for this query, in [0, 1]: as far as the query is familiar and the tool that
 * fits best by its text is in it, and past runs did not say that something else is to be done. A diverse past has shown
 * by itself how its plans do for questions of other kinds, and its confidence says so already; a narrow one has never
 * seen another question. What was asked before is itself.
 */
function trustIn(
  plan: RunsPlan,
  text: DraftedPlan,
  familiarity: number,
  view: HistoryView,
  cosines: ArrayLike<number>,
  areOther: boolean,
): number {
  if (plan.isSame) return 1;
  const [favourite] = text.tools;
  const isIn = !favourite || plan.tools.some(({ place }) => place === favourite.place);
  const agreement = isIn ? 1 : 1 - favourite.chance;
  const narrowness = narrownessIn(view.history);
  const trust = Math.max(DEFAULTS.least, familiarity * agreement) ** narrowness;
  return areOther || isOpposed(view, cosines) ? trust * (1 - narrowness) : trust;
}

/**
 * As far as what was learned applies, and as near as runs usually are to each other: a plan is held to more than an
 * order of tools. While nothing was learned the cosine of the nearest run decides alone.
 */
function familiarityIn(
  { ranker }: PlanningPast,
  ranking: Ranking | null,
  view: HistoryView,
  cosines: ArrayLike<number>,
): number {
  const { far, near, band } = DEFAULTS;
  const nearest = nearestRuns(cosines, view)[0]?.score ?? 0;
  const between = (from: number, to: number) => Math.min(1, Math.max(0, (nearest - from) / (to - from)));
  if (!ranker || !ranking) return between(far, near);
  const usual = ranker.familiarity.nearest;
  return Math.min(ranking.nearness, between(usual - band, usual));
}

/** The run most like it asked for the opposite, and no other is of its kind. */
function isOpposed(view: HistoryView, cosines: ArrayLike<number>): boolean {
  const [nearest] = nearestRuns(cosines, view.history.without(null));
  const [visible] = nearestRuns(cosines, view);
  return nearest !== undefined && view.isHidden(nearest.row) && (visible?.score ?? 0) < DEFAULTS.near;
}

/** Null before anything was learned. */
function learnedPlan(
  { history, texts, nets, candidates }: PlanningPast,
  query: IntentForms,
  ranking: Ranking | null,
): RunsPlan | null {
  if (!nets || !ranking || history.runs.length === 0) return null;
  const { learned } = ranking;
  const plan = new PlanModel(history, texts, nets).draft(query, learned.subarray(0, candidates.tools));
  // In the very same words: a verb may be all that tells near wordings apart.
  const isSame = history.runs.some(({ text }) => text.toLowerCase() === query.text.toLowerCase());
  return { ...plan, isSame };
}

/** A plan made of past runs; the same, if a run asked for the very same. */
type RunsPlan = CopiedPlan;

/** A copy of a run that asked for the same beats what was learned where it is surer; else what was learned serves. */
function better(copied: RunsPlan | null, learned: RunsPlan | null): RunsPlan | null {
  if (!copied || !learned) return copied ?? learned;
  return copied.isSame && copied.confidence > learned.confidence ? copied : learned;
}

/** What runs by itself needs more proof than what is suggested: near runs that say they do the same. */
function supportOf(
  { tools }: DraftedPlan,
  view: HistoryView,
  cosines: ArrayLike<number>,
  alike: ReadonlySet<number>,
): number {
  const needed = new Set(tools.map(({ place }) => place));
  return view.history.runs.filter(
    ({ uses }, i) => cosines[i]! >= DEFAULTS.supports && alike.has(i) && needed.isSubsetOf(new Set(uses)),
  ).length;
}

function longestNear(view: HistoryView, cosines: ArrayLike<number>): number {
  const near = nearestRuns(cosines, view);
  return Math.max(0, ...near.map(({ row }) => view.history.runs[row]!.uses.length));
}

/** The likeliest tools of a plan that is longer than any near run was. */
function shortened(plan: DraftedPlan, longest: number): DraftedPlan {
  const most = Math.max(DEFAULTS.mostTasks, longest);
  if (plan.tools.length <= most) return plan;
  return {
    ...plan,
    tools: plan.tools.slice(0, most),
    edges: plan.edges.filter(({ from, to }) => from < most && to < most),
    rest: [...plan.tools.slice(most), ...plan.rest],
  };
}
