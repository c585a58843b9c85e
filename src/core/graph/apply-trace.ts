import { type CallSpan, callSpans } from '../tracing/derive-trace.ts';
import type { ValueFlow } from '../tracing/value-flow.ts';
import { compareEdges, type EdgeType } from '../vocabulary/edge.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import type { GraphChanges, GraphEdge, NodePair, NodeStatistics } from './graph-edge.ts';
import type { NodeSighting, TypedGraph } from './typed-graph.ts';
import type { PathPair } from './value-paths.ts';

const DEFAULTS = {
  /** Most direct predecessors of one call, those that ended last, so that two wide layers stay linear. */
  predecessors: 32,
};

/** What one stored run adds to the graph. */
export interface TraceFacts {
  /** Time of the run, in milliseconds since 1970. */
  readonly at: number;
  readonly events: readonly TraceEvent[];
  /** For a run that PML started by itself: only its failures count. */
  readonly failuresOnly?: boolean;
  /** From the program's text: `to` uses a value of `from`. These are templates until a value is observed. */
  readonly staticProvides?: readonly NodePair[];
  /** From the program's text: `from` decided whether `to` runs. Observed when both ran, in this order. */
  readonly conditionals?: readonly NodePair[];
  /** Values met again in this run, or coming into it from its job. */
  readonly valueFlow?: readonly ValueFlow[];
  /** Of the steps before this run in its job, on its clock: what follows them is learned as if one program had. */
  readonly earlier?: readonly TraceFacts[];
  /** Dependencies of the executed plan, one per task and dependency. They count only if both nodes ran. */
  readonly dependencies?: readonly PlanDependency[];
}

export interface PlanDependency extends NodePair {
  /** `from` ran before the calls of this trace, in the same run. */
  readonly ranEarlier?: boolean;
}

interface Tally extends NodePair {
  readonly type: EdgeType;
  readonly calls: Set<unknown>;
  readonly paths: PathPair[];
  readonly isAgain: boolean;
}

/** Adds runs to the graph; O(events log events) each. Returns what the store must write, each change once. */
export function applyTraces(graph: TypedGraph, runs: Iterable<TraceFacts>): GraphChanges {
  const edges = new Set<GraphEdge>();
  const statistics = new Set<NodeStatistics>();
  for (const facts of runs) {
    if (facts.failuresOnly) {
      for (const node of failedNodes(facts)) statistics.add(graph.count(node, facts.at));
      continue;
    }
    for (const { from, to, type } of declarations(facts)) {
      const edge = graph.declare(from, to, type);
      if (edge) edges.add(edge);
    }
    const { nodes, tallies } = readRun(facts);
    for (const node of nodes) statistics.add(graph.count(node, facts.at));
    for (const { calls, ...sighting } of tallies) {
      const edge = graph.observe({ ...sighting, calls: calls.size }, facts.at);
      if (edge) edges.add(edge);
    }
  }
  return {
    edges: [...edges].map((edge) => ({ ...edge })).sort(compareEdges),
    statistics: [...statistics].map((each) => ({ ...each })).sort((a, b) => (a.node < b.node ? -1 : 1)),
  };
}

function failedNodes({ events }: TraceFacts): NodeSighting[] {
  const failed = callSpans(events).filter(({ end }) => !end?.success);
  return [...Map.groupBy(failed, ({ start }) => start.node)].map(([node, { length }]) => ({
    node,
    calls: length,
    failures: length,
    repeats: 0,
  }));
}

const NONE: readonly CallSpan[] = [];

function* declarations({ staticProvides, conditionals }: TraceFacts) {
  for (const { from, to } of staticProvides ?? []) yield { from, to, type: 'provides' as const };
  for (const { from, to } of conditionals ?? []) yield { from, to, type: 'conditional' as const };
}

interface ReadStep {
  /** Calls that nothing within the step made, and that have ended: nothing follows the others. */
  readonly calls: readonly CallSpan[];
  /** Edges that it showed. */
  readonly edges: ReadonlySet<string>;
}

/** A job's step is asked for with each step that follows it. */
const READ_STEPS = new WeakMap<TraceFacts, ReadStep>();

function readStep(facts: TraceFacts): ReadStep {
  if (!READ_STEPS.has(facts)) readRun(facts);
  return READ_STEPS.get(facts)!;
}

function readRun(facts: TraceFacts): { nodes: Iterable<NodeSighting>; tallies: Iterable<Tally> } {
  const earlier = (facts.earlier ?? []).map(readStep);
  const spans = callSpans(facts.events);
  const callsOf = Map.groupBy(spans, ({ start }) => start.node);
  const repeats = new Map<NodeId, number>();

  const tallies = new Map<string, Tally>();
  /** `call` is what makes two sightings one: the id of the call, or the task, of `to`. */
  const see = (type: EdgeType, from: NodeId, to: NodeId, call: unknown, path?: PathPair) => {
    const key = `${type} ${from.length} ${from}${to}`;
    let tally = tallies.get(key);
    if (!tally) {
      const isAgain = earlier.some(({ edges }) => edges.has(key));
      tally = { type, from, to, calls: new Set(), paths: [], isAgain };
      tallies.set(key, tally);
    }
    tally.calls.add(call);
    if (path) tally.paths.push(path);
  };

  const byId = new Map(spans.map((span) => [span.start.traceId, span]));
  for (const span of spans) {
    const parent = byId.get(span.start.parentTraceId ?? '');
    if (parent) see('contains', parent.start.node, span.start.node, span.start.traceId);
  }
  const families = Map.groupBy(spans, ({ start }) => start.parentTraceId);
  for (const [parent, siblings] of families) {
    const before = parent === null ? earlier.flatMap(({ calls }) => calls) : [];
    for (const [span, nodes] of precedingNodes(siblings, before)) {
      for (const node of nodes) {
        if (node !== span.start.node) see('sequence', node, span.start.node, span.start.traceId);
        else repeats.set(node, (repeats.get(node) ?? 0) + 1);
      }
    }
  }
  for (const { from, to, fromTraceId: _, toTraceId, ...path } of facts.valueFlow ?? []) {
    see('provides', from, to, toTraceId, path);
  }
  for (const [task, { from, to, ranEarlier }] of (facts.dependencies ?? []).entries()) {
    if ((ranEarlier || callsOf.has(from)) && callsOf.has(to)) see('dependency', from, to, task);
  }
  for (const { from, to } of facts.conditionals ?? []) {
    const decidedAt = callsOf.get(from)?.[0]?.endTs ?? Number.POSITIVE_INFINITY;
    for (const span of callsOf.get(to) ?? []) {
      if (span.startTs >= decidedAt) see('conditional', from, to, span.start.traceId);
    }
  }
  const nodes = callsOf.entries().map(([node, calls]) => ({
    node,
    calls: calls.length,
    failures: calls.filter(({ end }) => !end?.success).length,
    repeats: repeats.get(node) ?? 0,
  }));
  if (facts.earlier) {
    const calls = (families.get(null) ?? []).filter(({ end }) => end);
    READ_STEPS.set(facts, { calls, edges: new Set(tallies.keys()) });
  }
  return { nodes, tallies: tallies.values() };
}

/**
 * For each call the nodes that it directly followed, also among the calls `before` its run. Operations of user code
 * (`code:map`) stand between most tool calls: they are steps, and in addition tools count as following one another
 * through them.
 */
function precedingNodes(
  siblings: readonly CallSpan[],
  before: readonly CallSpan[],
): Map<CallSpan, Set<NodeId>> {
  const preceding = new Map<CallSpan, Set<NodeId>>(siblings.map((span) => [span, new Set()]));
  const all =
    before.length === 0
      ? siblings
      : [...before, ...siblings].sort((a, b) => a.startTs - b.startTs || a.endTs - b.endTs);
  const calls = all.filter(({ start }) => kindOf(start.node) !== 'operation');
  for (const list of calls.length < all.length ? [all, calls] : [all]) {
    for (const [i, followed] of directlyFollowed(list, (span) => preceding.has(span)).entries()) {
      for (const { start } of followed) preceding.get(list[i]!)!.add(start.node);
    }
  }
  return preceding;
}

/**
 * For each sibling (in the order of `callSpans`) that is asked for, those that it directly followed: they had ended when it
 * began, and no other call ran entirely between the two. In a chain that is the previous call; after a
 * parallel group, every call of the group; parallel calls never follow one another.
 *
 * This is the covering relation of an interval order. Let `last` be the ended call that started last: every
 * call that ended before `last` started is covered by it, and the others are the result. In order of end
 * these are contiguous, at the end of the ended calls: O(n log n).
 */
export function directlyFollowed(
  siblings: readonly CallSpan[],
  isAsked: (call: CallSpan) => boolean = () => true,
): (readonly CallSpan[])[] {
  const byEnd = [...siblings.keys()].sort((a, b) => siblings[a]!.endTs - siblings[b]!.endTs || a - b);
  let ended = 0;
  let last = -1;
  return siblings.map((call, index) => {
    // A call without duration ends where it starts: the order of the siblings decides which came first.
    while (byEnd[ended]! < index && siblings[byEnd[ended]!]!.endTs <= call.startTs) {
      last = Math.max(last, byEnd[ended]!);
      ended++;
    }
    if (!isAsked(call)) return NONE;
    const found: CallSpan[] = [];
    for (let i = ended - 1; i >= 0 && found.length < DEFAULTS.predecessors; i--) {
      const before = siblings[byEnd[i]!]!;
      if (byEnd[i] !== last && before.endTs <= siblings[last]!.startTs) break;
      found.push(before);
    }
    return found;
  });
}
