import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { Candidates } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import type { PlacePair, PlannedRun } from '../../core/planning/draft/plan-history.ts';
import type { EdgeType } from '../../core/vocabulary/edge.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';

/**
 * A run as plans are learned from it: its tools that are still there, and what each waited for. Which of
 * the tools before it that was, the graph tells: those that gave it a value or were needed by a plan, else
 * the last one it was seen to follow. Null for a run that failed, or whose tools are gone.
 */
export function plannedRun(run: LearnableRun, candidates: Candidates, graph: TypedGraph): PlannedRun | null {
  if (!run.succeeded) return null;
  const nodes = [...new Set(run.uses)].filter((id) => kindOf(id) === 'tool') as NodeId[];
  const uses = candidates.placesOf(nodes);
  if (uses.length === 0) return null;
  const known = uses.map((place) => candidates.ids[place] as NodeId);
  const isSeen = (from: NodeId, to: NodeId, type: EdgeType) =>
    (graph.edge(from, to, type)?.observedCount ?? 0) > 0;
  const edges = known.flatMap((to, i): PlacePair[] => {
    const before = known.slice(0, i);
    const needed = before.filter((from) => isSeen(from, to, 'provides') || isSeen(from, to, 'dependency'));
    const followed = before.findLast((from) => isSeen(from, to, 'sequence'));
    const all = needed.length > 0 ? needed : followed === undefined ? [] : [followed];
    return all.map((from) => [candidates.placeOf(from)!, uses[i]!]);
  });
  return { ...run, uses, edges };
}
