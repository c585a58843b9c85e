import { TypedGraph } from '../../src/core/graph/typed-graph.ts';
import type { Random } from '../../src/core/numeric/random.ts';
import { EDGE_TYPES } from '../../src/core/vocabulary/edge.ts';
import { type NodeId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { TraceEvent } from '../../src/core/vocabulary/trace-event.ts';

export const node = (i: number): NodeId => toolId('s', `t${i}`);

/** Edges between random nodes, of random types, seen in 0 to 4 runs. Some nodes may have no edges. */
export function randomGraph(random: Random, nodes: number, edges: number): TypedGraph {
  const graph = new TypedGraph();
  for (let i = 0; i < nodes; i++) graph.addNode(node(i));
  for (let i = 0; i < edges; i++) {
    const type = EDGE_TYPES[random.int(EDGE_TYPES.length)]!;
    const pair = { from: node(random.int(nodes)), to: node(random.int(nodes)), type };
    graph.declare(pair.from, pair.to, type);
    for (let runs = random.int(5); runs > 0; runs--) {
      graph.observe({ ...pair, calls: 1 + random.int(3), paths: [] }, 0);
    }
  }
  return graph;
}

/** A run of nested and overlapping calls. With `tools` few, nodes repeat. */
export function randomEvents(random: Random, calls: number, tools: number): TraceEvent[] {
  const events: TraceEvent[] = [];
  const spans: { traceId: string; start: number; end: number }[] = [];
  for (let i = 0; i < calls; i++) {
    const parent = random.next() < 0.4 ? spans[random.int(spans.length)] : undefined;
    const from = parent ? parent.start : 0;
    const room = parent ? parent.end - parent.start : 1_000;
    const start = from + Math.floor(random.next() * room);
    const end = Math.min(from + room, start + random.int(Math.max(1, room / 4)));
    const traceId = `call-${i}`;
    spans.push({ traceId, start, end });
    const base = { traceId, parentTraceId: parent?.traceId ?? null, node: node(random.int(tools)) };
    events.push({ ...base, type: 'tool_start', ts: start });
    if (random.next() < 0.05) continue;
    const success = random.next() < 0.9;
    events.push({ ...base, type: 'tool_end', ts: end, success, durationMs: end - start });
  }
  return events.sort((a, b) => a.ts - b.ts);
}
