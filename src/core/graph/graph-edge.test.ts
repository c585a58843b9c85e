import { describe, expect, test } from 'vitest';
import { EDGE_TYPES } from '../vocabulary/edge.ts';
import { toolId } from '../vocabulary/ids.ts';
import { fadedWeight, type GraphEdge, weight } from './graph-edge.ts';
import { TypedGraph } from './typed-graph.ts';

const [a, b] = [toolId('s', 'a'), toolId('s', 'b')];
const DAY = 86_400_000;

describe('[GRAPH-1] weights', () => {
  test.each([
    ['dependency', 1, 0.7, 0.5],
    ['contains', 0.8, 0.56, 0.4],
    ['provides', 0.7, 0.49, 0.35],
    ['alternative', 0.6, 0.42, 0.3],
    ['sequence', 0.5, 0.35, 0.25],
    ['conditional', 0.5, 0.35, 0.25],
  ] as const)('%s: %d observed, %d inferred, %d template', (type, observed, inferred, template) => {
    expect(weight(type, 'observed')).toBeCloseTo(observed, 12);
    expect(weight(type, 'inferred')).toBeCloseTo(inferred, 12);
    expect(weight(type, 'template')).toBeCloseTo(template, 12);
  });

  test.each(EDGE_TYPES)('%s: template, inferred at the first run, observed at the third', (type) => {
    const graph = new TypedGraph();
    graph.declare(a, b, type);
    const sources = [graph.edge(a, b, type)?.source];
    for (let run = 0; run < 4; run++) {
      graph.observe({ from: a, to: b, type, calls: 2, paths: [] }, run);
      sources.push(graph.edge(a, b, type)?.source);
    }
    expect(sources).toEqual(['template', 'inferred', 'inferred', 'observed', 'observed']);
    expect(graph.edge(a, b, type)).toMatchObject({ observedCount: 4, invocationCount: 8 });
  });
});

describe('[GRAPH-10] edges that are no longer seen fade', () => {
  const edge = (source: GraphEdge['source'], lastSeenAt: number | null): GraphEdge => ({
    from: a,
    to: b,
    type: 'dependency',
    source,
    observedCount: 5,
    invocationCount: 5,
    lastSeenAt,
    valuePaths: [],
  });

  test.each([
    [0, 1],
    [30, 1],
    [75, Math.SQRT1_2],
    [120, 0.5],
    [10_000, 0.5],
  ])('an observed edge unseen for %d days counts %d', (days, expected) => {
    expect(fadedWeight(edge('observed', 0), days * DAY)).toBeCloseTo(expected, 12);
  });

  test('no edge falls below a template, and a template does not fade', () => {
    expect(fadedWeight(edge('inferred', 0), 10_000 * DAY)).toBe(0.5);
    expect(fadedWeight(edge('template', null), 10_000 * DAY)).toBe(0.5);
  });

  test('age is measured from the newest run, whatever it called', () => {
    const graph = new TypedGraph();
    graph.observe({ from: a, to: b, type: 'dependency', calls: 1, paths: [] }, 0);
    const weightNow = () => graph.weightOf(graph.edge(a, b, 'dependency')!);
    expect(weightNow()).toBeCloseTo(0.7, 12);
    graph.count({ node: toolId('s', 'c'), calls: 1, failures: 0, repeats: 0 }, 60 * DAY);
    expect(weightNow()).toBeCloseTo(0.7 * 2 ** (-30 / 90), 12);
    const again = new TypedGraph(graph.edges(), graph.statistics());
    expect(again.weightOf(again.edge(a, b, 'dependency')!)).toBe(weightNow());
    graph.observe({ from: a, to: b, type: 'dependency', calls: 1, paths: [] }, 61 * DAY);
    expect(weightNow()).toBeCloseTo(0.7, 12);
  });
});
