import type { Candidates } from '../../learning/ranker/candidates.ts';
import { dot } from '../../numeric/matrices.ts';
import type { HistoryView, PlanHistory } from './plan-history.ts';
import { nearestRuns } from './plan-history.ts';
import type { ChosenTool, DraftedPlan } from './plan-model.ts';
import { bestSize } from './plan-model.ts';

const DEFAULTS = {
  /** Cosine from which another intent says something of this one; it says all at 1. */
  alike: 0.7,
  /** Characters of a past intent that are quoted. */
  quoted: 80,
  /** Share of another tool's runs from which a tool is said to go with it. */
  goesWith: 0.5,
  /** Cosine from which a past intent is said to be like this one. */
  likeThis: 0.5,
};

/** Tools that somebody took out of a plan suggested for an intent. */
export interface Removal {
  readonly intent: Float32Array;
  /** By place among the candidates. */
  readonly places: ReadonlySet<number>;
}

/**
 * Tools that were taken out of plans for intents like this are less likely: their chance is multiplied by
 * (1 + uses) / (1 + uses + removals), each counted as far as its intent is alike (Laplace's rule of succession, with
 * the one for granted that the tool is right). The set of greatest expected F1 stays; one that nobody doubted is as
 * it was.
 */
export function doubtTools(
  drafted: DraftedPlan,
  intent: Float32Array,
  history: PlanHistory,
  removals: readonly Removal[],
): DraftedPlan {
  const near = removals
    .map(({ intent: other, places }) => ({ places, weight: likeness(dot(intent, other)) }))
    .filter(({ weight }) => weight > 0);
  const removed = (place: number) =>
    near.reduce((sum, { places, weight }) => sum + (places.has(place) ? weight : 0), 0);
  if (!drafted.tools.some(({ place }) => removed(place) > 0)) return drafted;

  const cosines = history.cosines(intent);
  const trust = new Map(
    drafted.tools.map(({ place }) => {
      const uses = history.runsOf[place]!.reduce((sum, run) => sum + likeness(cosines[run]!), 0);
      return [place, (1 + uses) / (1 + uses + removed(place))];
    }),
  );
  const doubted = drafted.tools.map((tool) => ({ ...tool, chance: tool.chance * trust.get(tool.place)! }));
  const byPlace = [...new Map(doubted.map((tool) => [tool.place, tool])).values()];
  const sorted = byPlace.toSorted((a, b) => b.chance - a.chance);
  const { size } = bestSize(sorted.map(({ chance }) => chance));
  const stays = new Set(sorted.slice(0, size).map(({ place }) => place));
  const kept = [...doubted.keys()].filter((i) => stays.has(doubted[i]!.place));
  const at = new Map(kept.map((i, place) => [i, place]));
  const meanTrust = [...stays].reduce((sum, place) => sum + trust.get(place)!, 0) / stays.size;
  return {
    tools: kept.map((i) => doubted[i]!),
    edges: drafted.edges.flatMap(({ from, to, weight }) => {
      const [a, b] = [at.get(from), at.get(to)];
      return a === undefined || b === undefined ? [] : [{ from: a, to: b, weight }];
    }),
    rest: [...sorted.slice(size), ...drafted.rest],
    confidence: drafted.confidence * meanTrust,
  };
}

function likeness(cosine: number): number {
  return Math.min(1, Math.max(0, (cosine - DEFAULTS.alike) / (1 - DEFAULTS.alike)));
}

/** Why a plan is as it is, in plain words, from the runs it was learned from. */
export interface PlanReasons {
  ofTool(place: number): string;
  ofEdge(from: number, to: number): string;
}

export function planReasons(
  candidates: Candidates,
  tools: readonly ChosenTool[],
  cosines: ArrayLike<number>,
  view: HistoryView,
): PlanReasons {
  const { runs } = view.history;
  const near = nearestRuns(cosines, view).filter(({ score }) => score >= DEFAULTS.likeThis);
  return {
    ofTool(place) {
      const using = near.filter(({ row }) => runs[row]!.uses.includes(place));
      if (using.length > 0) {
        const quoted = using.find(({ row }) => !runs[row]!.isPrivate);
        const like = quoted ? `, like "${short(runs[quoted.row]!.text)}"` : '';
        return `used in ${using.length} of the ${counted(near.length, 'past run')} most similar${like}`;
      }
      const companion = companionOf(place, tools, view);
      if (companion) {
        return `used in ${companion.both} of ${counted(companion.used, 'run')} with ${candidates.ids[companion.place]}`;
      }
      return 'fits the intent by its name and description';
    },
    ofEdge(from, to) {
      const both = view.pair('orderedBoth', from, to);
      const before = view.pair('before', from, to);
      const name = candidates.ids[from];
      if (before > 0) return `${name} came before it in ${before} of ${counted(both, 'run')} with both`;
      return `tools like ${name} usually come before tools like it`;
    },
  };
}

/** Of the other tools the one it is used with most surely. */
function companionOf(place: number, tools: readonly ChosenTool[], view: HistoryView) {
  let best: { place: number; both: number; used: number } | null = null;
  for (const { place: other } of tools) {
    const used = view.sum('used', other);
    const both = other === place ? 0 : view.pair('both', other, place);
    if (both === 0 || both / used < DEFAULTS.goesWith) continue;
    if (!best || both / used > best.both / best.used) best = { place: other, both, used };
  }
  return best;
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}

function short(text: string): string {
  return text.length > DEFAULTS.quoted ? `${text.slice(0, DEFAULTS.quoted - 1)}…` : text;
}
