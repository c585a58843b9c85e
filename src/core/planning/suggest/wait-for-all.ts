import { type Hyperedge, Hyperpaths } from '../../graph/hyperpaths.ts';
import { kindOf } from '../../vocabulary/ids.ts';
import { breakCycles } from './break-cycles.ts';
import { nameOf, type PlanSketch, type SketchedEdge } from './plan-sketch.ts';

/**
 * A task that depends on a capability depends on all of it: where every node of the capability is among
 * the tasks (AND, by B-hyperpaths), it waits for each of them. `arcs` are those of `capabilityHyperedges`.
 */
export function waitForAll(sketch: PlanSketch, arcs: readonly Hyperedge[]): PlanSketch {
  const { tasks } = sketch;
  // Of a tool that is used twice the first.
  const places = new Map(tasks.map(({ node }, i) => [node, i] as const).reverse());
  const completions = new Map(
    arcs.filter(({ id, head }) => id === head && kindOf(head) === 'capability').map((arc) => [arc.head, arc]),
  );
  if (completions.size === 0) return sketch;
  const added: SketchedEdge[] = [];
  for (const { tail, head, cost } of arcs) {
    const to = places.get(head);
    const capability = tail.length === 1 ? completions.get(tail[0]!) : undefined;
    if (to === undefined || !capability) continue;
    const others = tasks.filter(({ node }) => node !== head).map(({ node }) => node);
    const reachable = new Hyperpaths(others, completions.values());
    if (reachable.costOf(capability.head) === Number.POSITIVE_INFINITY) continue;
    for (const node of capability.tail) {
      const from = places.get(node);
      if (from === undefined || from === to) continue;
      const reason = `${nameOf(tasks[to]!)} waits for all of what ${nameOf(tasks[from]!)} is part of`;
      added.push({ from, to, weight: 1 + 1 / (1 + cost), reason });
    }
  }
  const known = new Set(sketch.edges.map(({ from, to }) => `${from} ${to}`));
  const fresh = added.filter(({ from, to }) => !known.has(`${from} ${to}`));
  return { tasks, edges: breakCycles(tasks.length, [...sketch.edges, ...fresh]) };
}
