import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { node, randomEvents } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import { callSpans } from '../tracing/derive-trace.ts';
import type { EdgeType } from '../vocabulary/edge.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { applyTraces, directlyFollowed, type TraceFacts } from './apply-trace.ts';
import { type NodePair, weight } from './graph-edge.ts';
import { TypedGraph } from './typed-graph.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => toolId('s', name)) as [
  NodeId,
  NodeId,
  NodeId,
  NodeId,
];
const outer = capabilityNode('00000000-0000-4000-8000-000000000001');
const inner = capabilityNode('00000000-0000-4000-8000-000000000002');

interface Call {
  readonly node: NodeId;
  readonly from: number;
  readonly to: number;
  readonly parent?: string;
  readonly success?: boolean;
}

/** Calls by id, as the events of one run. */
function eventsOf(calls: Readonly<Record<string, Call>>): TraceEvent[] {
  return Object.entries(calls)
    .flatMap(([traceId, { node, from, to, parent, success = true }]): TraceEvent[] => {
      const base = { traceId, parentTraceId: parent ?? null, node };
      return [
        { ...base, type: 'tool_start', ts: from },
        { ...base, type: 'tool_end', ts: to, success, durationMs: to - from },
      ];
    })
    .sort((x, y) => x.ts - y.ts);
}

/** Sequential calls. */
function chain(...nodes: NodeId[]): TraceEvent[] {
  const calls = nodes.map((node, i) => [`call-${i}`, { node, from: 2 * i, to: 2 * i + 1 }] as const);
  return eventsOf(Object.fromEntries(calls));
}

function graphOf(facts: Partial<TraceFacts>): TypedGraph {
  const graph = new TypedGraph();
  applyTraces(graph, [{ at: 0, events: [], ...facts }]);
  return graph;
}

function pairs(graph: TypedGraph, type: EdgeType): string[] {
  return graph
    .edges()
    .filter((edge) => edge.type === type)
    .map(({ from, to }) => `${from} ${to}`);
}

describe('structure of a run', () => {
  test('[GRAPH-3] a capability contains what it calls, and nothing else', () => {
    const graph = graphOf({
      events: eventsOf({
        o: { node: outer, from: 0, to: 20 },
        i: { node: inner, from: 1, to: 10, parent: 'o' },
        x: { node: a, from: 2, to: 3, parent: 'i' },
        y: { node: a, from: 4, to: 5, parent: 'i' },
        z: { node: b, from: 11, to: 12, parent: 'o' },
      }),
    });
    expect(pairs(graph, 'contains')).toEqual([`${outer} ${inner}`, `${outer} ${b}`, `${inner} ${a}`]);
    expect(graph.edge(inner, a, 'contains')).toMatchObject({ observedCount: 1, invocationCount: 2 });
    expect(pairs(graph, 'sequence')).toEqual([`${inner} ${b}`]);
  });

  test('[GRAPH-4] parallel siblings get no sequence; a call after all of them follows each', () => {
    const graph = graphOf({
      events: eventsOf({
        first: { node: a, from: 0, to: 10 },
        left: { node: b, from: 10, to: 20 },
        right: { node: c, from: 11, to: 30 },
        last: { node: d, from: 30, to: 31 },
      }),
    });
    expect(pairs(graph, 'sequence')).toEqual([`${a} ${b}`, `${a} ${c}`, `${b} ${d}`, `${c} ${d}`]);
  });

  test('[GRAPH-4] calls of two parents are not siblings, though one ended before the other began', () => {
    const graph = graphOf({
      events: eventsOf({
        o: { node: outer, from: 0, to: 10 },
        x: { node: a, from: 1, to: 2, parent: 'o' },
        i: { node: inner, from: 20, to: 30 },
        y: { node: b, from: 21, to: 22, parent: 'i' },
      }),
    });
    expect(pairs(graph, 'sequence')).toEqual([`${outer} ${inner}`]);
  });

  test('[GRAPH-5] calls without a parent are siblings, failed ones too', () => {
    const events = eventsOf({
      x: { node: a, from: 0, to: 1 },
      y: { node: b, from: 1, to: 2, success: false },
      z: { node: c, from: 2, to: 3 },
    });
    expect(pairs(graphOf({ events }), 'sequence')).toEqual([`${a} ${b}`, `${b} ${c}`]);
    expect(graphOf({ events }).statisticsOf(b)).toMatchObject({ runs: 1, calls: 1, failures: 1 });
  });

  test('[GRAPH-5] calls of one moment follow each other in the order in which they were recorded', () => {
    const graph = graphOf({
      events: eventsOf({
        x: { node: a, from: 5, to: 5 },
        y: { node: b, from: 5, to: 5 },
        z: { node: c, from: 5, to: 6 },
      }),
    });
    expect(pairs(graph, 'sequence')).toEqual([`${a} ${b}`, `${b} ${c}`]);
  });

  test('[GRAPH-5] nothing follows a call that never ended', () => {
    const events = chain(a, b).filter(({ traceId, type }) => traceId !== 'call-0' || type === 'tool_start');
    expect(pairs(graphOf({ events }), 'sequence')).toEqual([]);
    expect(graphOf({ events }).statisticsOf(a)).toMatchObject({ calls: 1, failures: 1 });
  });

  test('[ORIGIN-3] a run that PML started itself adds only its failed calls, and no edges', () => {
    const graph = graphOf({
      events: eventsOf({
        one: { node: a, from: 0, to: 1 },
        two: { node: b, from: 2, to: 3, success: false },
        three: { node: b, from: 4, to: 5 },
      }),
      dependencies: [{ from: a, to: b }],
      staticProvides: [{ from: a, to: b }],
      failuresOnly: true,
    });
    expect(graph.edges()).toEqual([]);
    expect(graph.statistics()).toMatchObject([{ node: b, runs: 1, calls: 1, failures: 1, repeats: 0 }]);
  });

  test('[GRAPH-6] repetition makes no edge but is counted, for calls in a row and not for parallel ones', () => {
    const graph = graphOf({ events: chain(a, a, a, b, a) });
    applyTraces(graph, [
      {
        at: 1,
        events: eventsOf({ x: { node: a, from: 0, to: 5 }, y: { node: a, from: 1, to: 4 } }),
      },
    ]);
    expect(graph.edges().map(({ from, to }) => `${from} ${to}`)).toEqual([`${a} ${b}`, `${b} ${a}`]);
    expect(graph.statisticsOf(a)).toEqual({
      node: a,
      runs: 2,
      calls: 6,
      failures: 0,
      repeats: 2,
      repeatRuns: 1,
      lastSeenAt: 1,
    });
  });

  test('[GRAPH-6] a capability that calls itself does not contain itself', () => {
    const graph = graphOf({
      events: eventsOf({
        o: { node: outer, from: 0, to: 10 },
        again: { node: outer, from: 1, to: 5, parent: 'o' },
      }),
    });
    expect(graph.edges()).toEqual([]);
    expect(graph.statisticsOf(outer).calls).toBe(2);
  });

  test('[GRAPH-4] operations are steps, and tools follow one another through them', () => {
    const graph = graphOf({ events: chain(a, operationId('map'), operationId('filter'), b) });
    const [map, filter] = ['code:map', 'code:filter'];
    expect(pairs(graph, 'sequence')).toEqual([
      `${filter} ${b}`,
      `${map} ${filter}`,
      `${a} ${map}`,
      `${a} ${b}`,
    ]);
  });

  test('[GRAPH-4] a wide layer after a wide layer stays linear in calls', () => {
    const layer = (name: string, from: number) =>
      Array.from(
        { length: 2_000 },
        (_, i) => [`${name}${i}`, { node: node(i), from, to: from + 1 }] as const,
      );
    const graph = graphOf({ events: eventsOf(Object.fromEntries([...layer('x', 0), ...layer('y', 2)])) });
    expect(graph.size.edges).toBeLessThanOrEqual(2_000 * 32);
  });
});

describe('data flow, plans and branches', () => {
  const flow = (fromPath: string, toPath: string, toTraceId = 'call-1') => ({
    ...{ from: a, to: b, fromTraceId: 'call-0', toTraceId, fromPath, toPath },
  });

  test('[GRAPH-7] data flow from the text is a template until a value is seen', () => {
    const graph = graphOf({ events: chain(a, b), staticProvides: [{ from: a, to: b }] });
    expect(graph.edge(a, b, 'provides')).toMatchObject({ source: 'template', observedCount: 0 });
    for (const run of [1, 2, 3]) {
      const staticProvides = [{ from: a, to: b }];
      applyTraces(graph, [{ at: run, events: chain(a, b), staticProvides, valueFlow: [flow('id', 'user')] }]);
    }
    expect(graph.edge(a, b, 'provides')).toMatchObject({
      source: 'observed',
      observedCount: 3,
      lastSeenAt: 3,
      valuePaths: [{ fromPath: 'id', toPath: 'user', runs: 3 }],
    });
  });

  test('[GRAPH-7] both paths are kept, counted once per run; invocations counts the calls that took a value', () => {
    const valueFlow = [flow('id', 'x'), flow('id', 'x', 'call-2'), flow('items[0].id', 'y')];
    const graph = graphOf({ events: chain(a, b, b), valueFlow });
    expect(graph.edge(a, b, 'provides')).toMatchObject({
      observedCount: 1,
      invocationCount: 2,
      valuePaths: [
        { fromPath: 'id', toPath: 'x', runs: 1 },
        { fromPath: 'items[0].id', toPath: 'y', runs: 1 },
      ],
    });
  });

  test('[GRAPH-7] of very many paths the shortest are kept, in whatever order they came', () => {
    const runs = Array.from({ length: 100 }, (_, i) => ({
      at: 0,
      events: chain(a, b),
      valueFlow: [flow(`items[${i}].id`, 'id')],
    }));
    const [forth, back] = [new TypedGraph(), new TypedGraph()];
    applyTraces(forth, [...runs, runs[3]!]);
    applyTraces(back, [runs[3]!, ...runs.toReversed()]);
    expect(forth.edges()).toEqual(back.edges());
    expect(forth.edge(a, b, 'provides')?.valuePaths).toHaveLength(32);
    expect(forth.edge(a, b, 'provides')?.valuePaths[3]).toMatchObject({ fromPath: 'items[3].id', runs: 2 });
  });

  test('[GRAPH-8] an executed plan gives dependencies between the tasks that ran', () => {
    const dependencies = [
      { from: a, to: b },
      { from: a, to: b },
      { from: b, to: d },
    ];
    const graph = graphOf({ events: chain(a, b), dependencies });
    expect(pairs(graph, 'dependency')).toEqual([`${a} ${b}`]);
    expect(graph.edge(a, b, 'dependency')).toMatchObject({ observedCount: 1, invocationCount: 2 });
  });

  test('[GRAPH-8] a branch is a template until it is taken', () => {
    const conditionals = [
      { from: a, to: b },
      { from: a, to: c },
    ];
    const graph = graphOf({ events: chain(a, b, b), conditionals });
    expect(graph.edge(a, b, 'conditional')).toMatchObject({ source: 'inferred', invocationCount: 2 });
    expect(graph.edge(a, c, 'conditional')).toMatchObject({ source: 'template', invocationCount: 0 });
  });

  test('[GRAPH-2] a template dependency that is also observed as a sequence keeps both edges, with equal confidence', () => {
    const graph = new TypedGraph();
    graph.declare(a, b, 'dependency');
    for (const at of [1, 2, 3]) applyTraces(graph, [{ at, events: chain(a, b) }]);
    expect(graph.edges().map(({ type, source }) => `${type} ${source}`)).toEqual([
      'dependency template',
      'sequence observed',
    ]);
    const stated = graph.edge(a, b, 'dependency')!;
    expect(graph.shown(stated)).toEqual({
      ...stated,
      source: 'observed',
      observedCount: 3,
      invocationCount: 3,
      lastSeenAt: 3,
    });
    expect(graph.weightOf(stated)).toBe(weight('dependency', 'observed'));
    applyTraces(graph, [{ at: 4, events: chain(a, b), dependencies: [{ from: a, to: b }] }]);
    expect(graph.edge(a, b, 'dependency')?.source).toBe('inferred');
    expect(graph.edge(a, b, 'sequence')?.observedCount).toBe(4);
  });
});

describe('[GRAPH-9] the same runs give the same graph', () => {
  const random = createRandom(proofSeed());
  const pair = (): NodePair => ({ from: node(random.int(6)), to: node(random.int(6)) });
  const some = <T>(make: () => T): T[] => Array.from({ length: random.int(3) }, make);
  const randomFacts = (): TraceFacts => ({
    at: random.int(1_000) * 1e9,
    events: randomEvents(random, random.int(30), 6),
    staticProvides: some(pair),
    conditionals: some(pair),
    dependencies: some(pair),
    valueFlow: some(() => ({
      ...pair(),
      fromTraceId: 'x',
      toTraceId: `call-${random.int(3)}`,
      fromPath: `p${random.int(5)}`,
      toPath: `q${random.int(5)}`,
    })),
  });
  const whole = (graph: TypedGraph) => ({ edges: graph.edges(), statistics: graph.statistics() });

  test('one by one, in one batch, in any order, and from stored changes', () => {
    for (let proof = 0; proof < proofRuns(300); proof++) {
      const runs = Array.from({ length: 1 + random.int(12) }, randomFacts);
      const [single, batch, shuffled] = [new TypedGraph(), new TypedGraph(), new TypedGraph()];
      const edges = new Map<string, unknown>();
      const statistics = new Map<string, unknown>();
      for (const facts of runs) {
        const changes = applyTraces(single, [facts]);
        for (const edge of changes.edges) edges.set(`${edge.from} ${edge.to} ${edge.type}`, edge);
        for (const each of changes.statistics) statistics.set(each.node, each);
      }
      applyTraces(batch, runs);
      applyTraces(shuffled, random.shuffle([...runs]));
      expect(whole(batch)).toEqual(whole(single));
      expect(whole(shuffled)).toEqual(whole(single));
      const { edges: allEdges, statistics: allStatistics } = whole(single);
      expect(allEdges.map((edge) => edges.get(`${edge.from} ${edge.to} ${edge.type}`))).toEqual(allEdges);
      expect(allStatistics.map((each) => statistics.get(each.node))).toEqual(allStatistics);
      expect(whole(new TypedGraph(allEdges, allStatistics))).toEqual(whole(single));
    }
  });

  test('half before a restart and half after it', () => {
    for (let proof = 0; proof < proofRuns(100); proof++) {
      const runs = Array.from({ length: 6 }, randomFacts);
      const [straight, before] = [new TypedGraph(), new TypedGraph()];
      applyTraces(straight, runs);
      applyTraces(before, runs.slice(0, 3));
      const after = new TypedGraph(before.edges(), before.statistics());
      applyTraces(after, runs.slice(3));
      expect(whole(after)).toEqual(whole(straight));
      const weights = (graph: TypedGraph) => graph.edges().map((edge) => graph.weightOf(edge));
      expect(weights(after)).toEqual(weights(straight));
      expect(after.size).toEqual(straight.size);
    }
  });
});

test('[GRAPH-4] a call directly follows a call that ended before it, with no call wholly between the two', () => {
  const random = createRandom(proofSeed());
  for (let proof = 0; proof < proofRuns(1_000); proof++) {
    const events = randomEvents(random, random.int(25), 5).map((event) => ({
      ...event,
      // Few distinct times, so that many calls share one.
      ts: Math.floor(event.ts / 50),
    }));
    const spans = callSpans(events);
    const isBefore = (i: number, j: number) => i < j && spans[i]!.endTs <= spans[j]!.startTs;
    const expected = spans.map((_, j) =>
      spans.filter((_, i) => isBefore(i, j) && !spans.some((_, k) => isBefore(i, k) && isBefore(k, j))),
    );
    const found = directlyFollowed(spans);
    expect(found.map((each) => new Set(each))).toEqual(expected.map((each) => new Set(each)));
  }
});
