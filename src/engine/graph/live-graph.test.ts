import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { node } from '../../../test/support/random-graph.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import { localAlpha } from '../../core/graph/relatedness.ts';
import { TypedGraph } from '../../core/graph/typed-graph.ts';
import { type CapabilityNodeId, capabilityNode } from '../../core/vocabulary/ids.ts';
import { createProgramCache } from '../code/program.ts';
import { createEventLog } from '../traces/event-log.ts';
import { graphForSearch, openLiveGraph } from './live-graph.ts';

test('[TEAM-7] traces in a graph that another gateway stored are announced too, after the store was unreachable', async () => {
  const store = createMemoryStore();
  const events = createEventLog({ now: () => new Date(0), monotonic: () => 0 });
  let isAway = false;
  const shaky = {
    ...store,
    graph: {
      ...store.graph,
      apply: (step: Parameters<typeof store.graph.apply>[0]) =>
        isAway ? Promise.reject(new Error('away')) : store.graph.apply(step),
    },
  };
  const told: string[] = [];
  const parts = { programs: createProgramCache(), templates: [] };
  const here = await openLiveGraph({
    ...parts,
    ports: { store: shaky, events },
  });
  here.onLearned((traces) => told.push(...traces.map(({ id }) => id)));
  const there = await openLiveGraph({ ...parts, ports: { store, events } });

  const traces = [sampleTrace(), sampleTrace(), sampleTrace()];
  await store.traces.append(traces[0]!);
  isAway = true;
  await expect(here.catchUp()).rejects.toThrow('away');
  await store.traces.appendAll(traces.slice(1));
  await there.catchUp();
  isAway = false;
  await here.catchUp();
  expect(told).toEqual(traces.map(({ id }) => id));
});

test('[GRAPH-24] a capability is not an alternative to one that calls it', async () => {
  const store = createMemoryStore();
  const events = createEventLog({ now: () => new Date(0), monotonic: () => 0 });
  const graph = await openLiveGraph({
    programs: createProgramCache(),
    templates: [],
    ports: { store, events },
  });
  const [outer, middle, inner, other] = Array.from({ length: 4 }, () => capabilityNode(randomUUID())) as [
    CapabilityNodeId,
    CapabilityNodeId,
    CapabilityNodeId,
    CapabilityNodeId,
  ];
  const nested = [outer, middle, inner].flatMap((node, i) => {
    const base = { traceId: `call ${i}`, parentTraceId: i === 0 ? null : `call ${i - 1}`, node };
    return [
      { ...base, type: 'capability_start' as const, ts: i },
      { ...base, type: 'capability_end' as const, ts: 10 - i, success: true, durationMs: 10 - 2 * i },
    ];
  });
  await store.traces.append(sampleTrace({ events: nested, code: null, guest: null, taskResults: [] }));
  await graph.catchUp();
  const alternative = (from: CapabilityNodeId, to: CapabilityNodeId) => ({
    ...{ from, to, type: 'alternative' as const, source: 'inferred' as const },
    ...{ observedCount: 1, invocationCount: 1, lastSeenAt: 0, valuePaths: [] },
  });
  graph.relate([alternative(outer, inner), alternative(middle, outer), alternative(inner, other)]);
  const kept = graph
    .current()
    .edges()
    .filter(({ type }) => type === 'alternative');
  expect(kept.map(({ from, to }) => [from, to])).toEqual([[inner, other]]);
});

test('[GRAPH-21] alpha is computed from all observations, or from those around the context', () => {
  const graph = new TypedGraph();
  const [read, write] = [node(0), node(1)];
  for (let at = 0; at < 3; at++)
    graph.observe({ from: read, to: write, type: 'sequence', calls: 1, paths: [] }, at);
  const catalogue = {
    entries: [],
    get: () => undefined,
    vectors: { get: () => undefined, nearest: () => [] },
  };
  const alphaBy = (kind: 'adaptive' | 'local') =>
    graphForSearch(
      () => graph,
      () => catalogue as never,
      () => kind,
    ).context([read]).alpha;
  expect(alphaBy('adaptive')).toBe(0.8);
  expect(alphaBy('local')).toBe(localAlpha(graph.snapshot(), [read]));
  expect(alphaBy('local')).not.toBe(0.8);
});
