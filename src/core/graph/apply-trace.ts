import { type CallSpan, callSpans } from '../tracing/derive-trace.ts';
import type { ValueFlow } from '../tracing/value-flow.ts';
import { compareEdges, type EdgeType } from '../vocabulary/edge.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import type { GraphChanges, GraphEdge, NodePair, NodeStatistics, PathPair } from './graph-edge.ts';
import type { NodeSighting, TypedGraph } from './typed-graph.ts';

const DEFAULTS = {
  /** Calls one call is said to follow directly, those that ended last: two wide layers stay linear. */
  predecessors: 32,
};

/** What one stored run says to the graph. */
export interface TraceFacts {
  /** When it ran, in milliseconds since 1970. */
  readonly at: number;
  readonly events: readonly TraceEvent[];
  /** PML started the run by itself: it shows what does not work, and nothing else. */
  readonly failuresOnly?: boolean;
  /** From the program's text: a value of `from` is used by `to`. They are templates until a value is seen. */
  readonly staticProvides?: readonly NodePair[];
  /** From the program's text: whether `to` runs was decided by `from`. Seen when both ran, in this order. */
  readonly conditionals?: readonly NodePair[];
  /** Values met again in this run. */
  readonly valueFlow?: readonly ValueFlow[];
  /** Of the executed plan, one pair per task and dependency. Those whose nodes did not both run do not count. */
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
}

/** Adds runs to the graph; O(events log events) each. Answers what a store has to write, each change once. */
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

function* declarations({ staticProvides, conditionals }: TraceFacts) {
  for (const { from, to } of staticProvides ?? []) yield { from, to, type: 'provides' as const };
  for (const { from, to } of conditionals ?? []) yield { from, to, type: 'conditional' as const };
}

function readRun(facts: TraceFacts): { nodes: Iterable<NodeSighting>; tallies: Iterable<Tally> } {
  const spans = callSpans(facts.events);
  const callsOf = Map.groupBy(spans, ({ start }) => start.node);
  const repeats = new Map<NodeId, number>();

  const tallies = new Map<string, Tally>();
  /** `call` is what makes two sightings one: the call, or the task, of `to`. */
  const see = (type: EdgeType, from: NodeId, to: NodeId, call: unknown, path?: PathPair) => {
    const key = `${type} ${from.length} ${from}${to}`;
    const tally = tallies.get(key) ?? { type, from, to, calls: new Set(), paths: [] };
    tallies.set(key, tally);
    tally.calls.add(call);
    if (path) tally.paths.push(path);
  };

  const byId = new Map(spans.map((span) => [span.start.traceId, span]));
  for (const span of spans) {
    const parent = byId.get(span.start.parentTraceId ?? '');
    if (parent) see('contains', parent.start.node, span.start.node, span);
  }
  for (const siblings of Map.groupBy(spans, ({ start }) => start.parentTraceId).values()) {
    for (const [span, before] of precedingNodes(siblings)) {
      for (const node of before) {
        if (node === span.start.node) repeats.set(node, (repeats.get(node) ?? 0) + 1);
        else see('sequence', node, span.start.node, span);
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
      if (span.startTs >= decidedAt) see('conditional', from, to, span);
    }
  }
  const nodes = callsOf.entries().map(([node, calls]) => ({
    node,
    calls: calls.length,
    failures: calls.filter(({ end }) => !end?.success).length,
    repeats: repeats.get(node) ?? 0,
  }));
  return { nodes, tallies: tallies.values() };
}

/**
 * For each call the nodes it directly followed. Operations of user code (`code:map`) stand between most
 * tool calls: they are steps of their own, and besides, tools are taken to follow one another through them.
 */
function precedingNodes(siblings: readonly CallSpan[]): Map<CallSpan, Set<NodeId>> {
  const preceding = new Map<CallSpan, Set<NodeId>>(siblings.map((span) => [span, new Set()]));
  const calls = siblings.filter(({ start }) => kindOf(start.node) !== 'operation');
  for (const list of calls.length < siblings.length ? [siblings, calls] : [siblings]) {
    for (const [i, followed] of directlyFollowed(list).entries()) {
      for (const { start } of followed) preceding.get(list[i]!)!.add(start.node);
    }
  }
  return preceding;
}

/**
 * For each of some siblings (in the order of `callSpans`) those it directly followed: they had ended when
 * it began, and nothing ran wholly between the two. In a chain that is the call before; after a parallel
 * group it is every call of the group; parallel calls never follow one another.
 *
 * This is the covering relation of an interval order. Of the calls that had ended, let `last` be the one
 * that started last: whatever ended before `last` started is covered by it, and the rest are the answer.
 * In order of end they stand together, at the end of what has ended so far: O(n log n).
 */
export function directlyFollowed(siblings: readonly CallSpan[]): CallSpan[][] {
  const byEnd = [...siblings.keys()].sort((a, b) => siblings[a]!.endTs - siblings[b]!.endTs || a - b);
  let ended = 0;
  let last = -1;
  return siblings.map((call, index) => {
    // A call without duration ends where it starts: the order of the siblings tells what came first.
    while (byEnd[ended]! < index && siblings[byEnd[ended]!]!.endTs <= call.startTs) {
      last = Math.max(last, byEnd[ended]!);
      ended++;
    }
    const found: CallSpan[] = [];
    for (let i = ended - 1; i >= 0 && found.length < DEFAULTS.predecessors; i--) {
      const before = siblings[byEnd[i]!]!;
      if (byEnd[i] !== last && before.endTs <= siblings[last]!.startTs) break;
      found.push(before);
    }
    return found;
  });
}
