import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { node, randomEvents } from '../../../../test/support/random-graph.ts';
import { sampleTrace } from '../../../../test/support/samples.ts';
import { createRandom } from '../../numeric/random.ts';
import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import { capabilityNode, type NodeId } from '../../vocabulary/ids.ts';
import { ERROR_TYPES, type ErrorType, type TraceEvent } from '../../vocabulary/trace-event.ts';
import { IntentMemory } from './statistics-memory.ts';
import {
  CachedStatistics,
  type StatisticsQuery,
  TRACE_STATISTICS,
  TraceStatistics,
} from './trace-statistics.ts';

const seed = proofSeed();
const START = Date.UTC(2026, 0, 1);
const DAY = 24 * 60 * 60 * 1000;
const [a, b, c] = [node(0), node(1), node(2)];
const skill = capabilityNode('00000000-0000-4000-8000-000000000001');

/** The statistics of stored runs, in any order. */
function statisticsOf(traces: readonly ExecutionTrace[]): TraceStatistics {
  const statistics = new TraceStatistics();
  const ordered = traces.toSorted(
    (a, b) => a.executedAt.getTime() - b.executedAt.getTime() || (a.id < b.id ? -1 : 1),
  );
  for (const trace of ordered) statistics.add(trace);
  return statistics;
}

interface Step {
  readonly node: NodeId;
  readonly error?: ErrorType;
  readonly ms?: number;
}

/** Sequential calls; the run fails if its last call does. */
function run(steps: readonly (NodeId | Step)[], over: Partial<ExecutionTrace> = {}): ExecutionTrace {
  const calls = steps.map((step): Step => (typeof step === 'string' ? { node: step } : step));
  let clock = 0;
  const events = calls.flatMap(({ node, error, ms = 1 }, i): TraceEvent[] => {
    const base = { traceId: `call-${i}`, parentTraceId: null, node };
    const start: TraceEvent = { ...base, type: 'tool_start', ts: clock };
    clock += ms;
    const failure = error && { error: 'no', errorType: error };
    return [start, { ...base, type: 'tool_end', ts: clock++, success: !error, durationMs: ms, ...failure }];
  });
  return trace({ events, success: !calls.at(-1)?.error, errorType: calls.at(-1)?.error ?? null, ...over });
}

function trace(over: Partial<ExecutionTrace>): ExecutionTrace {
  const nothing = { sessionId: null, intentEmbedding: null, executedAt: new Date(START), executedPath: [] };
  return sampleTrace({ ...nothing, ...over });
}

/** Statistics by name. */
function read(statistics: Pick<TraceStatistics, 'vector'>, of: NodeId, query: Partial<StatisticsQuery> = {}) {
  const vector = statistics.vector(of, { now: START, ...query });
  return Object.fromEntries(TRACE_STATISTICS.map((name, i) => [name, vector[i]!]));
}

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

describe('each statistic', () => {
  test('[STATS-1] there are 17, in a fixed order', () => {
    expect(TRACE_STATISTICS).toHaveLength(17);
    expect(TRACE_STATISTICS.slice(11)).toEqual(ERROR_TYPES.map((type) => `errorTypeAffinity.${type}`));
  });

  test('[STATS-1] success counts the last call of each run, so that a retry that worked is a success', () => {
    const traces = [
      ...times(3, () => run([a])),
      run([{ node: a, error: 'TIMEOUT' }, a]),
      run([{ node: a, error: 'TIMEOUT' }, b]),
    ];
    expect(read(statisticsOf(traces), a).historicalSuccessRate).toBeCloseTo(4 / 5);
  });

  test('[STATS-1] a run without events is counted by its path and outcome', () => {
    const traces = times(5, (i) => trace({ events: [], executedPath: [a, b], success: i > 0 }));
    expect(read(statisticsOf(traces), b)).toMatchObject({
      historicalSuccessRate: Math.fround(4 / 5),
      sequencePosition: 1,
      avgExecutionTime: 0.5,
      errorRecoveryRate: 0.5,
    });
  });

  test('[STATS-1] position, steps to success and their variance', () => {
    // Steps from `a` to the end: 1, 3, 3, 3, and one run that failed.
    const traces = [run([a]), ...times(3, () => run([b, a, b, c])), run([a, { node: b, error: 'NETWORK' }])];
    const known = read(statisticsOf(traces), a);
    expect(known.sequencePosition).toBeCloseTo((0.5 + 3 * (1 / 3) + 0) / 5);
    expect(known.avgPathLengthToSuccess).toBeCloseTo(2.5 / 5.5);
    expect(known.pathVariance).toBeCloseTo(0.75 / 9.75);
  });

  test('[STATS-1] a capability precedes its calls and counts like a tool', () => {
    const nested = (success: boolean): TraceEvent[] => [
      { type: 'capability_start', traceId: 'x', parentTraceId: null, node: skill, ts: 0 },
      { type: 'tool_start', traceId: 'y', parentTraceId: 'x', node: a, ts: 0 },
      { type: 'tool_end', traceId: 'y', parentTraceId: 'x', node: a, ts: 2, success, durationMs: 2 },
      {
        type: 'capability_end',
        traceId: 'x',
        parentTraceId: null,
        node: skill,
        ts: 9,
        success,
        durationMs: 9,
      },
    ];
    const statistics = statisticsOf(times(5, (i) => trace({ events: nested(i > 1), success: i > 1 })));
    expect(read(statistics, skill)).toMatchObject({
      sequencePosition: 0,
      historicalSuccessRate: Math.fround(3 / 5),
      // The capability failed after its call did, but began before.
      errorRecoveryRate: 0.5,
    });
    expect(read(statistics, a, { context: [skill] })).toMatchObject({
      sequencePosition: 1,
      cooccurrenceWithContext: 1,
      contextualSuccessRate: Math.fround(3 / 5),
    });
  });

  test('[STATS-1] recency, use and duration', () => {
    const traces = [
      ...times(5, (i) => run([{ node: a, ms: 99 }], { executedAt: new Date(START + i) })),
      ...times(10, () => run([{ node: b, ms: 500_000 }])),
    ];
    const statistics = statisticsOf(traces);
    const known = read(statistics, a, { now: START + 4 + DAY });
    expect(known.recencyScore).toBeCloseTo(Math.exp(-1));
    expect(known.usageFrequency).toBeCloseTo(0.5);
    expect(known.avgExecutionTime).toBeCloseTo(Math.log(100) / Math.log(60_001));
    expect(read(statistics, b)).toMatchObject({ usageFrequency: 1, avgExecutionTime: 1 });
    expect(read(statistics, a, { now: START - DAY }).recencyScore).toBe(1);
  });

  test('[STATS-1] recovery: after failed calls of the same run, or of the run before in the session', () => {
    const traces = [
      run([{ node: b, error: 'TIMEOUT' }, a]),
      run([
        { node: b, error: 'TIMEOUT' },
        { node: a, error: 'NETWORK' },
      ]),
      ...times(2, () => run([a])),
      run([{ node: c, error: 'PERMISSION' }], { sessionId: 's', executedAt: new Date(START + 1) }),
      run([a], { sessionId: 's', executedAt: new Date(START + 2) }),
      run([a], { sessionId: 's', executedAt: new Date(START + 3) }),
    ];
    expect(read(statisticsOf(traces), a)).toMatchObject({
      errorRecoveryRate: Math.fround(2 / 3),
      'errorTypeAffinity.TIMEOUT': 0.5,
      'errorTypeAffinity.PERMISSION': 1,
      'errorTypeAffinity.NETWORK': 0.5,
    });
  });

  test('[STATS-1] context: what came before in the run or session, and how it ended then', () => {
    const traces = [
      ...times(2, () => run([b, a])),
      run([b, { node: a, error: 'VALIDATION' }]),
      run([a, b]),
      run([b], { sessionId: 's', executedAt: new Date(START + 1) }),
      run([a], { sessionId: 's', executedAt: new Date(START + 2) }),
      run([a], { sessionId: 't', executedAt: new Date(START + 3) }),
    ];
    const statistics = statisticsOf(traces);
    expect(read(statistics, a, { context: [b] })).toMatchObject({
      contextualSuccessRate: 0.75,
      cooccurrenceWithContext: Math.fround(5 / 6),
    });
    expect(read(statistics, a, { context: [b, c] }).cooccurrenceWithContext).toBeCloseTo(5 / 12);
    expect(read(statistics, a, { context: [c] })).toMatchObject({
      contextualSuccessRate: 0.5,
      cooccurrenceWithContext: 0,
    });
  });

  test('[STATS-1] success for similar intents uses the nearest fifty with a cosine of at least .7', () => {
    const vector = (cosine: number) => Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2));
    const done = (cosine: number, success: boolean) =>
      run([a], { success, intentEmbedding: vector(cosine), embeddingModel: 'm' });
    const statistics = statisticsOf([
      done(1, true),
      done(0.9, true),
      done(0.8, false),
      ...times(9, () => done(0.5, false)),
    ]);
    const ask = (model: string) => statistics.similarRuns({ model, vector: vector(1) });
    expect(read(statistics, a, { similar: ask('m') }).intentSimilarSuccessRate).toBeCloseTo(2 / 3);
    expect(read(statistics, b, { similar: ask('m') }).intentSimilarSuccessRate).toBe(0.5);
    expect(ask('other')).toEqual([]);
  });
});

describe('cold start', () => {
  test('[STATS-2] below five runs, and for unknown nodes, all have their cold-start values', () => {
    const cold = [0.5, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0, ...ERROR_TYPES.map(() => 0.5)];
    const statistics = statisticsOf(times(4, () => run([{ node: a, ms: 7 }, b])));
    const query = { now: START + DAY, context: [b] };
    expect([...statistics.vector(a, query)]).toEqual(cold);
    expect([...statistics.vector(c, query)]).toEqual(cold);
    statistics.add(run([a]));
    expect([...statistics.vector(a, query)]).not.toEqual(cold);
    expect([...statistics.vector(b, query)]).toEqual(cold);
  });
});

/** Runs of five tools in three sessions, some without events, with intents in a plane. */
function randomTraces(from: number, count: number): ExecutionTrace[] {
  const random = createRandom(from);
  return times(count, (i) => {
    const angle = random.next() * 2;
    const success = random.next() < 0.7;
    const events = random.next() < 0.8 ? randomEvents(random, 1 + random.int(6), 5) : [];
    return trace({
      id: `${i}`,
      events,
      executedPath: times(random.int(4), () => node(random.int(5))),
      sessionId: random.next() < 0.8 ? `session-${random.int(3)}` : null,
      executedAt: new Date(START + i * 60_000),
      success,
      errorType: success ? null : (ERROR_TYPES[random.int(7)] ?? null),
      intentEmbedding: random.next() < 0.8 ? Float32Array.of(Math.cos(angle), Math.sin(angle)) : null,
    });
  });
}

describe('as a whole', () => {
  const nodes = times(6, node);
  const ask = (statistics: TraceStatistics): StatisticsQuery => ({
    now: START + DAY,
    context: [a, c],
    similar: statistics.similarRuns({ model: 'test-model', vector: Float32Array.of(1, 0) }),
  });
  const all = (statistics: TraceStatistics) => nodes.map((of) => [...statistics.vector(of, ask(statistics))]);

  test('[STATS-3] the numbers are the same one at a time, all at once and through the cache', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 60 }), (from, count) => {
        const traces = randomTraces(from, count);
        const single = new TraceStatistics();
        const inner = new TraceStatistics();
        const cached = new CachedStatistics(inner, 4);
        for (const one of traces) {
          single.add(one);
          cached.add(one);
          for (const of of nodes) {
            expect(cached.vector(of, ask(inner))).toEqual(single.vector(of, ask(single)));
          }
        }
        const batch = statisticsOf(createRandom(from).shuffle([...traces]));
        expect(all(single)).toEqual(all(batch));
      }),
      { seed, numRuns: proofRuns(100) },
    );
  });

  test('[STATS-3] every number is in [0, 1]', () => {
    fc.assert(
      fc.property(fc.nat(), (from) => {
        for (const value of all(statisticsOf(randomTraces(from, 80))).flat()) {
          expect(value >= 0 && value <= 1).toBe(true);
        }
      }),
      { seed, numRuns: proofRuns(100) },
    );
  });

  test('[STATS-4] the cache hits until a run touches the node, and keeps the most recently used', () => {
    const cached = new CachedStatistics(new TraceStatistics(), 2);
    expect(cached.figures.hitRate).toBe(0);
    const look = (of: NodeId) => {
      const { hits } = cached.figures;
      cached.vector(of, { now: START });
      return cached.figures.hits > hits;
    };
    expect([a, a, b, a].map(look)).toEqual([false, true, false, true]);
    cached.add(run([a]));
    expect([b, a].map(look)).toEqual([true, false]);
    // Room for two: `b` is the least recently used.
    expect([c, a, b].map(look)).toEqual([false, true, false]);
    expect(cached.figures).toEqual({ hits: 4, misses: 5, hitRate: 4 / 9 });
  });

  test('[STATS-4] only the newest intents are remembered, and those of one model', () => {
    const memory = new IntentMemory(3);
    const vector = Float32Array.of(1, 0);
    for (let i = 0; i < 5; i++)
      memory.add({ model: 'm', vector }, { nodes: new Set([node(i)]), success: true });
    const remembered = memory.similarTo({ model: 'm', vector }).flatMap(({ nodes: used }) => [...used]);
    expect(remembered.toSorted()).toEqual([node(2), node(3), node(4)]);
    memory.add({ model: 'n', vector }, { nodes: new Set([a]), success: true });
    expect(memory.size).toBe(1);
    expect(memory.similarTo({ model: 'm', vector })).toEqual([]);
  });
});
