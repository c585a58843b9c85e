import { type Candidates, type IntentForms, narrownessOf } from '../../learning/ranker/candidates.ts';
import type { Ranker, Ranking } from '../../learning/ranker/ranker.ts';
import { TopK } from '../../numeric/top-k.ts';
import { type RelatedIntents, relateIntents } from '../../retrieval/intent-actions.ts';
import { SHIPPED_TEXT_CHANCES, type TextChances, textChance } from '../../retrieval/text-scores.ts';
import type { EdgeTexts } from './edge-features.ts';
import { type HistoryView, nearestRuns, type PlanHistory, type PlannedRun } from './plan-history.ts';
import { type DraftedPlan, PlanModel, type PlanNets } from './plan-model.ts';
import {
  PlanCalibration,
  type PlanOutcome,
  PlanRecord,
  type PlanSigns,
  type PlanWorth,
  SHIPPED_PLAN_WORTH,
} from './plan-record.ts';
import {
  asksForOther,
  type CopiedPlan,
  chanceF1,
  closestRun,
  copiedElsewhere,
  copiedF1,
  copyOf,
  type LiveCopy,
  textOfFirst,
  textPlan,
  usualSizes,
} from './unlearned-plans.ts';

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
  /** Share of that where the copy has one tool: other work may need some of several tools, and not the only one. */
  single: 0.25,
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
  /** F1 that a copy must be expected to have where past runs are not trusted otherwise: as much as it then says of itself. */
  leastExpected: 0.4,
  /** F1 by which texts that speak against a copy must be ahead of it to take its place. */
  leastGain: 0.1,
  /** Tools that fit best by their text, of which some may never have been used. */
  fitting: 5,
  /** Share of these from which a plan is rated like one for new tools: near past runs, too, one of them is often unused. */
  unused: 0.4,
  /** The same, of which one may be missing in a plan. */
  missing: 8,
  /** Share of a plan that is lost where it does without a tool that is right: the others may be right all the same. */
  lost: 0.5,
  /** Near runs that support a plan which may run by itself: how such plans do shows when they run. */
  supported: 2,
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
  /** How plans have done so far; absent: nothing is known of that. */
  readonly record?: PlanRecord;
  readonly textChances?: TextChances;
  /** What plans are worth in other catalogues; the shipped figures if absent. */
  readonly planWorth?: PlanWorth;
}

/**
 * A plan that rests on evidence: runs of the same kind, else tools whose text fits, else nothing. Runs that asked for
 * the opposite count as no evidence, and what only forbids them asks for nothing. Between near and far, confidence is that
 * of both, each as far as it applies.
 */
export function draftPlan(past: PlanningPast, query: IntentForms): GroundedPlan {
  return draftWithSigns(past, query).plan;
}

/** With what its confidence is calibrated by; null where it is not made of runs, or nothing was learned. */
export function draftWithSigns(
  past: PlanningPast,
  query: IntentForms,
): { readonly plan: GroundedPlan; readonly signs: PlanSigns | null } {
  const { candidates, history, ranker } = past;
  const cosines = history.cosines(query.intent);
  const related = relateIntents(query.text, history.runs, cosines);
  const { opposed, alike, others, forbids, negates } = related;
  const view = history.hiding(opposed);
  if (forbids && isOpposed(view, cosines))
    return unsigned({ tools: [], edges: [], rest: [], confidence: 0, basis: 'nothing', support: 0 });
  const ranking = ranker?.rank(query) ?? null;
  const text = textPlanFor(past, query, ranking, doneByOpposites(history, view, cosines));
  const record = past.record ?? new PlanRecord();
  const copied = copyClosest(past, query, related, record, text);
  const learned = learnedPlan(past, query, ranking);
  const familiarity = familiarityIn(past, ranking, view, cosines);
  const trustOf = (made: RunsPlan | null) =>
    made ? trustIn(made, text, familiarity, view, cosines, others === 1) : 0;
  const proven = better(copied, learned, record, history.runs.length);
  // A copy that the texts speak against gives way to what was learned, if they speak for that.
  const plan =
    trustOf(proven) < DEFAULTS.leastTrust && trustOf(learned) >= DEFAULTS.leastTrust ? learned : proven;
  const outdoes = (isTrusted: boolean) =>
    copied !== null && isWorthMore(copied, text, record, history.runs.length, isTrusted);
  const trust = copied !== null && plan === copied && !outdoes(true) ? 0 : trustOf(plan);
  const isNarrow = narrownessIn(history) > DEFAULTS.narrow;
  if (!plan || trust < DEFAULTS.leastTrust) {
    if (copied && outdoes(false)) {
      const share = copied.tools.length > 1 ? 1 : DEFAULTS.single;
      const prior = share * Math.min(copied.confidence, copied.expected, DEFAULTS.opposed);
      const worth = Math.min(copied.trust, record.elsewhereAt(copied.closeness, prior));
      const isOther = asksForOther(related) || isOpposed(view, cosines);
      const confidence = isOther ? Math.min(prior, worth) : worth;
      return unsigned({ ...copied, confidence, basis: 'runs', support: 0 });
    }
    // What runs used, and yet are not trusted with, is what they asked for in words that mean something else.
    const isUsed = text.tools.some(({ place }) => history.runsOf[place]!.length > 0);
    const isDisputed = (isNarrow && isUsed) || negates;
    // What was right more often than texts say is not certain for that.
    const isSure = !isDisputed && text.confidence > DEFAULTS.unproven;
    const worth = record.textAt(text.confidence);
    return unsigned({
      ...text,
      confidence: isSure ? worth : Math.min(worth, DEFAULTS.unproven),
      basis: text.tools.length > 0 ? 'text' : 'nothing',
      support: 0,
    });
  }
  const mixed = trust * plan.confidence + (1 - trust) * Math.min(plan.confidence, text.confidence);
  const short = shortened(plan, longestNear(view, cosines));
  const support = namesOther(candidates, short, query, view, cosines)
    ? 0
    : supportOf(short, view, cosines, alike);
  const runs = history.runs.length;
  const isDoubtful = support === 0 && plan === learned;
  const isSupported = plan.isSame || support >= DEFAULTS.supported;
  const signs = learned && ranking && signsOf(past, learned, short, ranking, cosines);
  const own =
    (isDoubtful ? (mixed * runs) / (runs + DEFAULTS.doubt) : mixed) *
    (1 - DEFAULTS.lost * chanceOfOther(text, plan, ranking));
  const confidence = signs && !isSupported ? calibrated(past, own, signs, isNarrow) : own;
  const grounds = { ...short, basis: 'runs' as const };
  if (isOpposed(view, cosines)) {
    return { plan: { ...grounds, confidence: Math.min(confidence, DEFAULTS.opposed), support: 0 }, signs };
  }
  const isUnproven = support === 0 && isNarrow;
  return {
    plan: {
      ...grounds,
      confidence: isUnproven ? Math.min(confidence, DEFAULTS.unproven) : confidence,
      support,
    },
    signs,
  };
}

function textPlanFor(
  { candidates, history, textChances = SHIPPED_TEXT_CHANCES }: PlanningPast,
  query: IntentForms,
  ranking: Ranking | null,
  ruledOut?: ReadonlySet<number>,
): DraftedPlan {
  const scores = ranking?.text ?? candidates.textScores(query);
  return textPlan(query, scores, candidates, usualSizes(history.runs), textChances, ruledOut);
}

function unsigned(plan: GroundedPlan): { readonly plan: GroundedPlan; readonly signs: null } {
  return { plan, signs: null };
}

/**
 * By what plans for left-out runs were worth here, as far as tools that fit were never used. Where too few were left out,
 * other catalogues have as much of a say as the plan itself; of a past of few kinds of work they know nothing.
 */
function calibrated(
  { nets, planWorth = SHIPPED_PLAN_WORTH }: PlanningPast,
  own: number,
  signs: PlanSigns,
  isNarrow: boolean,
): number {
  const elsewhere = isNarrow ? own : (own + new PlanCalibration(planWorth).at(signs)) / 2;
  const worth = nets?.calibration ? nets.calibration.at(signs) : elsewhere;
  return own + Math.min(1, signs.unused / DEFAULTS.unused) * (worth - own);
}

function signsOf(
  { candidates, history: { runsOf }, textChances = SHIPPED_TEXT_CHANCES }: PlanningPast,
  { confidence }: RunsPlan,
  plan: DraftedPlan,
  { text }: Ranking,
  cosines: ArrayLike<number>,
): PlanSigns {
  const fitting = new TopK(DEFAULTS.missing);
  for (let place = 0; place < candidates.tools; place++) fitting.offer(place, text.fused[place]!);
  const best = fitting.sorted();
  const isUnused = best.map(({ row }) => runsOf[row]!.length === 0);
  const first = isUnused.slice(0, DEFAULTS.fitting);
  const scores = best.map(({ score }) => score);
  const chosen = placesOf(plan);
  const missed = best.findIndex(({ row }, rank) => isUnused[rank] && !chosen.has(row));
  let nearest = 0;
  for (let run = 0; run < cosines.length; run++) nearest = Math.max(nearest, cosines[run]!);
  return {
    expected: confidence,
    nearest,
    unused: first.filter(Boolean).length / (first.length || 1),
    missed: missed < 0 ? 0 : textChance(textChances, scores, missed),
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

/**
 * A copy of a run that asked for the same beats what was learned where it is surer; where the two differ otherwise, the
 * one that has proven better on the runs so far serves. That learned plans turn out better than they say of themselves is
 * no reason to prefer them to a run that asked for the same.
 */
function better(
  copied: WeighedCopy | null,
  learned: RunsPlan | null,
  record: PlanRecord,
  runs: number,
): RunsPlan | null {
  if (!copied || !learned) return copied ?? learned;
  if (copied.isSame && copied.confidence > learned.confidence) return copied;
  if (f1Of(copied, placesOf(learned)) === 1) return learned;
  const proven = record.learnedAt(learned.confidence, runs);
  return copied.expected > (copied.isSame ? Math.min(proven, learned.confidence) : proven) ? copied : learned;
}

/** Of the runs that did not ask for the opposite; null where none is close. */
function copyClosest(
  { history, trustIn }: PlanningPast,
  query: IntentForms,
  related: RelatedIntents,
  record: PlanRecord,
  text: DraftedPlan,
): WeighedCopy | null {
  const closest = closestRun(history, query, (run) => related.opposed.has(run), record.copiesByJob);
  if (!closest) return null;
  const trust = trustIn(history.runs[closest.run]!.key);
  const copied = copyOf(history, closest, asksForOther(related), record, trust);
  const isDisputed = !copied.isSame && speaksAgainst(text, placesOf(copied));
  return { ...copied, isDisputed, trust, closeness: closest.closeness };
}

/** A copy, and whether the tool that fits best by its text is missing in it. */
interface WeighedCopy extends LiveCopy {
  readonly isDisputed: boolean;
  /** In work of its key to succeed. */
  readonly trust: number;
  readonly closeness: number;
}

function speaksAgainst({ tools: [favourite] }: DraftedPlan, copied: ReadonlySet<number>): boolean {
  return favourite !== undefined && !copied.has(favourite.place);
}

/**
 * What close runs did is likelier right than what reads alike; in doubt, while there are few, it is. Where the two
 * differ, that holds until texts have proven better in disputes like this one, however far the copy is trusted.
 */
function isWorthMore(
  { expected, closeness, isDisputed }: WeighedCopy,
  text: DraftedPlan,
  record: PlanRecord,
  runs: number,
  isTrusted: boolean,
): boolean {
  const { leastExpected, leastGain, doubt } = DEFAULTS;
  const hoped = (text.confidence * runs) / (runs + doubt) - expected;
  if (!isTrusted && expected < leastExpected) return false;
  if (!isDisputed) return isTrusted || hoped <= 0;
  return record.textGain(closeness, text.confidence, isTrusted ? Math.min(0, hoped) : hoped) <= leastGain;
}

function placesOf({ tools }: Pick<DraftedPlan, 'tools'>): ReadonlySet<number> {
  return new Set(tools.map(({ place }) => place));
}

function f1Of(plan: Pick<DraftedPlan, 'tools'>, right: ReadonlySet<number>): number {
  const made = placesOf(plan);
  return (2 * made.intersection(right).size) / (made.size + right.size);
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

/** What each way of planning would have given for a run that is not part of the past yet; null where none has a say. */
export function judgePlans(past: PlanningPast, run: PlannedRun): PlanOutcome | null {
  const { history, ranker } = past;
  const related = relateIntents(run.text, history.runs, history.cosines(run.intent));
  // A job of single calls was known step by step.
  const isItself = (other: number) => run.runId !== undefined && history.runs[other]!.runId === run.runId;
  const isUnseen = (other: number) => related.opposed.has(other) || isItself(other);
  const plain = closestRun(history, run, isUnseen, false);
  const byJob = closestRun(history, run, isUnseen, true);
  if (!plain || !byJob) return null;
  const closest = past.record?.copiesByJob ? byJob : plain;
  const isKnown = history.runs.some((_, other) => isItself(other));
  const ranking = isKnown ? null : (ranker?.rank(run) ?? null);
  const learned = learnedPlan(past, run, ranking);
  const right = new Set(run.uses);
  const text = textPlanFor(past, run, ranking);
  const worth = (plan: DraftedPlan) => ({ expected: plan.confidence, f1: f1Of(plan, right) });
  return {
    closeness: closest.closeness,
    isOther: asksForOther(related),
    copied: copiedF1(history, closest.run, right),
    byChance: chanceF1(history, right, (other) => !isItself(other)),
    learned: learned && worth(learned),
    text: speaksAgainst(text, new Set(history.runs[closest.run]!.uses)) ? worth(text) : null,
    ...copiedElsewhere(history, run, right, isUnseen),
    ...textOfFirst(
      history,
      right,
      (other) => !isItself(other),
      () => text,
    ),
    ...(byJob.run !== plain.run && {
      jobGain: copiedF1(history, byJob.run, right) - copiedF1(history, plain.run, right),
    }),
  };
}
