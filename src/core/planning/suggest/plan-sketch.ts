import type { TypedGraph } from '../../graph/typed-graph.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import type { TaskBody } from '../../vocabulary/plan.ts';

/** What a task of a plan will run, and why it is there. */
export interface SketchedTask {
  readonly node: NodeId;
  readonly body: TaskBody;
  /** JSON schema of its arguments. */
  readonly schema: unknown;
  /** Chance that it belongs. */
  readonly chance: number;
  readonly reason: string;
  /** Of a capability: which argument of which tool each parameter goes to. */
  readonly slots?: readonly ParameterSlot[];
  /** The tool whose result is that of the capability, where one is. */
  readonly gives?: NodeId;
}

export interface ParameterSlot {
  readonly parameter: string;
  readonly tool: string;
  /** Of the tool's argument. */
  readonly name: string;
}

/** By place among the tasks; `weight` decides which edge of a cycle is removed. */
export interface SketchedEdge extends WeightedEdge {
  readonly reason: string;
}

/** A plan before it has arguments: acyclic once its cycles are broken. */
export interface PlanSketch {
  readonly tasks: readonly SketchedTask[];
  readonly edges: readonly SketchedEdge[];
}

/** Learned edges weigh their chance, at most 1; what was seen in the graph weighs more. */
const TIERS = [
  { type: 'dependency', weight: 1, meaning: 'was needed before it in an executed plan' },
  { type: 'provides', weight: 2, meaning: 'gave it a value' },
] as const;

/** Adds what the graph has seen between two of the tasks: provides before dependency before what was learned. */
export function withSeenEdges(sketch: PlanSketch, graph: TypedGraph): PlanSketch {
  const { tasks } = sketch;
  const edges = new Map(sketch.edges.map((edge) => [`${edge.from} ${edge.to}`, edge]));
  for (const { type, weight, meaning } of TIERS) {
    for (const [from, a] of tasks.entries()) {
      for (const [to, b] of tasks.entries()) {
        const runs = graph.edge(a.node, b.node, type)?.observedCount ?? 0;
        if (from === to || runs === 0) continue;
        const reason = `${nameOf(a)} ${meaning} (${runs === 1 ? '1 run' : `${runs} runs`})`;
        edges.set(`${from} ${to}`, { from, to, weight: weight + runs / (runs + 1), reason });
      }
    }
  }
  return { tasks, edges: breakCycles(tasks.length, [...edges.values()]) };
}

export function nameOf({ body, node }: Pick<SketchedTask, 'body' | 'node'>): string {
  return body.tool ?? body.capability ?? node;
}

/** Places of all tasks before, direct or not, by task. */
export function ancestorsOf({ tasks, edges }: PlanSketch): ReadonlySet<number>[] {
  const before = tasks.map((_, i) => edges.filter(({ to }) => to === i).map(({ from }) => from));
  const known: (Set<number> | undefined)[] = tasks.map(() => undefined);
  const all = (task: number): Set<number> => {
    const found = known[task];
    if (found) return found;
    const ancestors = new Set<number>();
    known[task] = ancestors;
    for (const from of before[task]!) {
      ancestors.add(from);
      for (const further of all(from)) ancestors.add(further);
    }
    return ancestors;
  };
  return tasks.map((_, i) => all(i));
}

/** An edge among numbered nodes, with how much speaks for it. */
export interface WeightedEdge {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

/**
 * Removes the weakest edge inside each strongly connected component (Tarjan, 1972) until none is left
 * with more than one node. Loops of a node with itself go first.
 */
export function breakCycles<E extends WeightedEdge>(size: number, edges: readonly E[]): E[] {
  let left = edges.filter(({ from, to }) => from !== to);
  for (;;) {
    const component = componentsOf(size, left);
    const weakest = new Map<number, E>();
    for (const edge of left) {
      const own = component[edge.from]!;
      if (own !== component[edge.to]) continue;
      const found = weakest.get(own);
      if (!found || edge.weight < found.weight) weakest.set(own, edge);
    }
    if (weakest.size === 0) return left;
    const removed = new Set(weakest.values());
    left = left.filter((edge) => !removed.has(edge));
  }
}

/** The number of each node's strongly connected component; iterative, so that depth costs no stack. */
function componentsOf(size: number, edges: readonly WeightedEdge[]): Int32Array {
  const next = Array.from({ length: size }, (): number[] => []);
  for (const { from, to } of edges) next[from]!.push(to);
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const component = new Int32Array(size).fill(-1);
  const open: number[] = [];
  let [count, components] = [0, 0];
  for (let root = 0; root < size; root++) {
    if (index[root] !== -1) continue;
    const path = [{ node: root, at: 0 }];
    while (path.length > 0) {
      const step = path.at(-1)!;
      const { node } = step;
      if (step.at === 0) {
        index[node] = low[node] = count++;
        open.push(node);
      }
      const to = next[node]![step.at++];
      if (to !== undefined) {
        if (index[to] === -1) path.push({ node: to, at: 0 });
        else if (component[to] === -1) low[node] = Math.min(low[node]!, index[to]!);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) low[above.node] = Math.min(low[above.node]!, low[node]!);
      if (low[node] !== index[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop()!;
        component[member] = components;
      }
      components++;
    }
  }
  return component;
}
