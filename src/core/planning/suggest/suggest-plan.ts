import { type Hyperedge, Hyperpaths } from '../../graph/hyperpaths.ts';
import type { TypedGraph } from '../../graph/typed-graph.ts';
import { type CapabilityNodeId, kindOf, type NodeId } from '../../vocabulary/ids.ts';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import { isReference } from '../plan/references.ts';
import {
  ancestorsOf,
  breakCycles,
  nameOf,
  type ParameterSlot,
  type PlanSketch,
  type SketchedEdge,
  type SketchedTask,
  withSeenEdges,
} from './plan-sketch.ts';
import { type Fill, type SuggestedPlan, wireArguments } from './wire-arguments.ts';

const DEFAULTS = {
  /** A capability of one tool saves nothing. */
  leastTasks: 2,
};

/** What a sketch is completed with. */
export interface PlanKnowledge {
  readonly graph: TypedGraph;
  /** Of the graph, with its capabilities: see `capabilityHyperedges`. */
  readonly arcs: readonly Hyperedge[];
  /** Those that may be used. */
  readonly capabilities: readonly CoveringCapability[];
  /** Lower bound of the success rate of a tool. */
  readonly reliabilityOf: (node: NodeId) => number;
  /** Arguments by analogy to past calls; absent: none are known. */
  readonly fill?: Fill;
}

/**
 * From tools with a likely order to a plan that can run: what the graph saw between them is added, what
 * follows a capability waits for all of it, cycles lose their weakest edges, capabilities take the place
 * of tasks they do better, and arguments are wired.
 */
export function suggestPlan(sketch: PlanSketch, knowledge: PlanKnowledge): SuggestedPlan {
  const { graph, arcs, capabilities, reliabilityOf, fill } = knowledge;
  const whole = waitForAll(withSeenEdges(sketch, graph), arcs);
  return wireArguments(coverWithCapabilities(whole, capabilities, reliabilityOf, graph), graph, fill);
}

/**
 * A task that depends on a capability depends on all of it: where every node of the capability is among
 * the tasks (AND, by B-hyperpaths), it waits for each of them. `arcs` are those of `capabilityHyperedges`.
 */
function waitForAll(sketch: PlanSketch, arcs: readonly Hyperedge[]): PlanSketch {
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
      const reason = `${nameOf(tasks[to]!)} waits for everything that ${nameOf(tasks[from]!)} is part of`;
      added.push({ from, to, weight: 1 + 1 / (1 + cost), reason });
    }
  }
  const known = new Set(sketch.edges.map(({ from, to }) => `${from} ${to}`));
  const fresh = added.filter(({ from, to }) => !known.has(`${from} ${to}`));
  return { tasks, edges: breakCycles(tasks.length, [...sketch.edges, ...fresh]) };
}

/** A capability that may stand in for tasks. */
export interface CoveringCapability {
  readonly node: CapabilityNodeId;
  readonly slug: string;
  /** JSON schema of its arguments. */
  readonly schema: unknown;
  /** Tools it calls, without repeats. */
  readonly tools: readonly NodeId[];
  /** The same with repeats, in order. */
  readonly calls?: readonly string[];
  /** Lower bound of its success rate. */
  readonly reliability: number;
  readonly slots?: readonly ParameterSlot[];
  /** It is a part of jobs, and its result is that of this tool, its last one. */
  readonly gives?: NodeId;
}

/**
 * Puts a capability in place of consecutive tasks that are exactly what it calls, where it is more reliable
 * than they are one by one. What waited for one of them waits for the whole. `reliabilityOf` tells that of a single tool.
 */
function coverWithCapabilities(
  sketch: PlanSketch,
  capabilities: readonly CoveringCapability[],
  reliabilityOf: (node: NodeId) => number,
  graph: TypedGraph,
): PlanSketch {
  const planned = new Set(sketch.tasks.map(({ node }) => node));
  const offered = inTurn(
    capabilities.filter(
      ({ tools }) => tools.length >= DEFAULTS.leastTasks && tools.every((tool) => planned.has(tool)),
    ),
  );
  return offered.reduce((plan, capability) => {
    const covered = coveredBy(plan, capability);
    if (!covered || !areConsecutive(plan, covered) || hidesValues(plan, covered, capability, graph))
      return plan;
    const oneByOne = capability.tools.reduce((product, tool) => product * reliabilityOf(tool), 1);
    return capability.reliability > oneByOne ? contract(plan, covered, capability) : plan;
  }, sketch);
}

/**
 * Whole jobs before parts of jobs, and of these the one that covers most; but of those that make the same calls the one
 * that asks for least: it knows where the rest comes from.
 */
function inTurn(capabilities: readonly CoveringCapability[]): CoveringCapability[] {
  const byJob = (a: CoveringCapability, b: CoveringCapability) =>
    Number(a.gives !== undefined) - Number(b.gives !== undefined) ||
    b.tools.length - a.tools.length ||
    b.reliability - a.reliability;
  const same = Map.groupBy(capabilities, ({ node, calls }) => calls?.join(' ') ?? node);
  return [...same.values()]
    .map((group) => group.toSorted(byJob))
    .sort(([a], [b]) => byJob(a!, b!))
    .flatMap((group) => group.toSorted((a, b) => askedBy(a) - askedBy(b)));
}

function askedBy({ schema }: CoveringCapability): number {
  return Object.keys((schema as { properties?: object } | null)?.properties ?? {}).length;
}

/** Of a part only the last result can be referred to: what others took from its other tools would be lost. */
function hidesValues(
  { tasks }: PlanSketch,
  covered: ReadonlySet<number>,
  { tools, gives }: CoveringCapability,
  graph: TypedGraph,
): boolean {
  if (gives === undefined) return false;
  const hidden = tools.filter((tool) => tool !== gives);
  const outside = tasks.filter((_, i) => !covered.has(i));
  return outside.some(({ node }) =>
    hidden.some((tool) => (graph.edge(tool, node, 'provides')?.observedCount ?? 0) > 0),
  );
}

/** The places of the tasks it would replace; null unless all of its tools are there. */
function coveredBy({ tasks }: PlanSketch, { tools }: CoveringCapability): ReadonlySet<number> | null {
  const places = tools.map((tool) => tasks.findIndex(({ node }) => node === tool));
  return places.includes(-1) ? null : new Set(places);
}

/** Joined by edges with nothing else to run between them: no path leads out of them and back in. */
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
  { node, slug, schema, slots, gives }: CoveringCapability,
): PlanSketch {
  const parts = tasks.filter((_, i) => covered.has(i));
  const whole: SketchedTask = {
    node,
    body: { capability: slug },
    schema,
    chance: Math.min(...parts.map(({ chance }) => chance)),
    reason: `does ${parts.map(nameOf).join(', ')} in one call`,
    ...(slots && { slots }),
    ...(gives !== undefined && { gives }),
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

interface GivenPlan {
  readonly plan: Plan;
  /** Names of values that no task takes, or more than one. */
  readonly unplaced: readonly string[];
}

/**
 * A suggested plan with the values that its caller gives: those of its inputs, and those that were filled in from past
 * runs and are meant otherwise now, by the name of the argument, or tool and argument where several tasks have it.
 */
export function withGiven(plan: Plan, given: Readonly<Record<string, unknown>>): GivenPlan {
  const isInput = (name: string) => plan.inputs.some((input) => input.name === name);
  const inputs = Object.entries(given).filter(([name]) => isInput(name));
  let { tasks } = plan;
  const unplaced: string[] = [];
  for (const [name, value] of Object.entries(given).filter(([other]) => !isInput(other))) {
    const having = tasks.filter((task) => argumentOf(task, name) === name);
    const named = having.length === 1 ? having : tasks.filter((task) => argumentOf(task, name) !== null);
    if (named.length !== 1) {
      unplaced.push(name);
      continue;
    }
    const [{ id }] = named as [Task];
    tasks = tasks.map((task) =>
      task.id === id
        ? { ...task, arguments: { ...task.arguments, [argumentOf(task, name) ?? name]: value } }
        : task,
    );
  }
  const placed = { ...plan, tasks, arguments: { ...plan.arguments, ...Object.fromEntries(inputs) } };
  return { plan: placed, unplaced };
}

/** The same for a caller who relies on every value: one that cannot be placed is an error. */
export function withAllGiven(plan: Plan, given: Readonly<Record<string, unknown>>): Plan {
  const { plan: placed, unplaced } = withGiven(plan, given);
  const [name] = unplaced;
  if (name === undefined) return placed;
  const taken = [...plan.inputs.map((input) => input.name), ...plan.tasks.flatMap(namesOf)];
  const known = [...new Set(taken)].map((each) => `"${each}"`).join(', ');
  throw new PmlError('invalid_argument', `The suggestion has no argument "${name}", or more than one`, {
    hint: known === '' ? 'It takes none.' : `It takes ${known}.`,
  });
}

/** Of what was filled in, with the tool in front. */
function namesOf({ tool, capability, arguments: args }: Task): string[] {
  const filled = Object.keys(args).filter((name) => !isReference(args[name]));
  return filled.map((name) => `${(tool ?? capability ?? '').split(':').at(-1)}_${name}`);
}

/** The argument that a name means: its own, or behind the tool's name; null where it has none that was filled in. */
function argumentOf({ tool, capability, arguments: args }: Task, name: string): string | null {
  const isFilled = (argument: string) => Object.hasOwn(args, argument) && !isReference(args[argument]);
  if (isFilled(name)) return name;
  const prefix = `${(tool ?? capability ?? '').split(':').at(-1)}_`;
  const rest = name.slice(prefix.length);
  return name.startsWith(prefix) && isFilled(rest) ? rest : null;
}
