import type { CapabilityNodeId, NodeId } from '../../vocabulary/ids.ts';
import { ancestorsOf, nameOf, type PlanSketch, type SketchedEdge, type SketchedTask } from './plan-sketch.ts';

/** A capability that may stand in for tasks. */
export interface CoveringCapability {
  readonly node: CapabilityNodeId;
  readonly slug: string;
  /** JSON schema of its arguments. */
  readonly schema: unknown;
  /** Tools it calls, without repeats. */
  readonly tools: readonly NodeId[];
  /** Lower bound of its success rate. */
  readonly reliability: number;
}

const DEFAULTS = {
  /** A capability of one tool saves nothing. */
  leastTasks: 2,
};

/**
 * Puts a capability in place of consecutive tasks that are exactly what it calls, where it is more reliable
 * than they are one by one; the one that covers most comes first. What waited for one of them waits for
 * the whole. `reliabilityOf` tells that of a single tool.
 */
export function coverWithCapabilities(
  sketch: PlanSketch,
  capabilities: readonly CoveringCapability[],
  reliabilityOf: (node: NodeId) => number,
): PlanSketch {
  const offered = capabilities
    .filter(({ tools }) => tools.length >= DEFAULTS.leastTasks)
    .toSorted((a, b) => b.tools.length - a.tools.length || b.reliability - a.reliability);
  return offered.reduce((plan, capability) => {
    const covered = coveredBy(plan, capability);
    if (!covered || !areConsecutive(plan, covered)) return plan;
    const oneByOne = capability.tools.reduce((product, tool) => product * reliabilityOf(tool), 1);
    return capability.reliability > oneByOne ? contract(plan, covered, capability) : plan;
  }, sketch);
}

/** The places of the tasks it would replace; null unless all of its tools are there. */
function coveredBy({ tasks }: PlanSketch, { tools }: CoveringCapability): ReadonlySet<number> | null {
  const places = tools.map((tool) => tasks.findIndex(({ node }) => node === tool));
  return places.includes(-1) ? null : new Set(places);
}

/** Joined by edges, and nothing else has to run between: no way leads out of them and back in. */
function areConsecutive(sketch: PlanSketch, covered: ReadonlySet<number>): boolean {
  const ancestors = ancestorsOf(sketch);
  const comesBetween = sketch.tasks.some(
    (_, i) =>
      !covered.has(i) &&
      !covered.isDisjointFrom(ancestors[i]!) &&
      [...covered].some((task) => ancestors[task]!.has(i)),
  );
  return !comesBetween && isConnected(sketch, covered);
}

function isConnected({ edges }: PlanSketch, covered: ReadonlySet<number>): boolean {
  const [first] = covered;
  const reached = new Set([first!]);
  for (const task of reached) {
    for (const { from, to } of edges) {
      if (from === task && covered.has(to)) reached.add(to);
      if (to === task && covered.has(from)) reached.add(from);
    }
  }
  return reached.size === covered.size;
}

/** One task for all of them, in the place of the first; edges into or out of any become its own. */
function contract(
  { tasks, edges }: PlanSketch,
  covered: ReadonlySet<number>,
  { node, slug, schema, reliability }: CoveringCapability,
): PlanSketch {
  const parts = tasks.filter((_, i) => covered.has(i));
  const whole: SketchedTask = {
    node,
    body: { capability: slug },
    schema,
    chance: Math.min(...parts.map(({ chance }) => chance)),
    reason: `does ${parts.map(nameOf).join(', ')} in one, with a reliability of ${reliability.toFixed(2)}`,
  };
  const kept = [...tasks.keys()].filter((i) => !covered.has(i));
  const at = new Map(kept.map((i, place) => [i, place]));
  const placeOf = (i: number) => at.get(i) ?? kept.length;
  const merged = new Map<string, SketchedEdge>();
  for (const edge of edges) {
    const [from, to] = [placeOf(edge.from), placeOf(edge.to)];
    const known = merged.get(`${from} ${to}`);
    if (from !== to && (known?.weight ?? 0) < edge.weight) merged.set(`${from} ${to}`, { ...edge, from, to });
  }
  return { tasks: [...kept.map((i) => tasks[i]!), whole], edges: [...merged.values()] };
}
