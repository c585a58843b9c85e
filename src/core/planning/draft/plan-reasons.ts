import type { Candidates } from '../../learning/ranker/candidates.ts';
import type { HistoryView } from './plan-history.ts';
import type { ChosenTool } from './plan-model.ts';
import { nearestRuns } from './run-votes.ts';

const DEFAULTS = {
  /** Characters of a past intent that are quoted. */
  quoted: 80,
  /** Share of another tool's runs from which a tool is said to go with it. */
  goesWith: 0.5,
  /** Cosine from which a past intent is said to be like this one. */
  alike: 0.5,
};

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
  const near = nearestRuns(cosines, view).filter(({ score }) => score >= DEFAULTS.alike);
  return {
    ofTool(place) {
      const using = near.filter(({ row }) => runs[row]!.uses.includes(place));
      if (using.length > 0) {
        const quoted = using.find(({ row }) => !runs[row]!.isPrivate);
        const like = quoted ? `, like "${short(runs[quoted.row]!.text)}"` : '';
        return `used in ${using.length} of the ${counted(near.length, 'past run')} most alike${like}`;
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
      return `what is like ${name} usually comes before what is like it`;
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
