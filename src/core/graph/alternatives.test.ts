import { describe, expect, test } from 'vitest';
import { capabilityNode } from '../vocabulary/ids.ts';
import { alternativeEdges } from './related-nodes.ts';
import { TypedGraph } from './typed-graph.ts';

const [one, two, three] = [1, 2, 3].map((i) => capabilityNode(`00000000-0000-4000-8000-00000000000${i}`)) as [
  ReturnType<typeof capabilityNode>,
  ReturnType<typeof capabilityNode>,
  ReturnType<typeof capabilityNode>,
];
/** Unit vectors at these angles, in degrees; 0.85 is the cosine of 32. */
const at = (...degrees: number[]) =>
  degrees.map((angle) =>
    Float32Array.of(Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)),
  );

describe('[GRAPH-24] alternatives', () => {
  test('two capabilities that served the same intents share an edge, and the third has none', () => {
    const edges = alternativeEdges([
      { capability: three, intents: at(90), lastSeenAt: 9 },
      { capability: two, intents: at(2, 31, 60), lastSeenAt: 5 },
      { capability: one, intents: at(0, 30), lastSeenAt: 7 },
    ]);
    expect(edges).toEqual([
      {
        from: one,
        to: two,
        type: 'alternative',
        source: 'inferred',
        observedCount: 2,
        invocationCount: 2,
        lastSeenAt: 5,
        valuePaths: [],
      },
    ]);
  });

  test('one common intent among many does not make them alternatives', () => {
    const many = { capability: two, intents: at(0, 90, 180, 270), lastSeenAt: 0 };
    expect(alternativeEdges([{ capability: one, intents: at(0), lastSeenAt: 0 }, many])).toEqual([]);
    expect(alternativeEdges([{ capability: one, intents: [], lastSeenAt: 0 }, many])).toEqual([]);
  });

  test('in the graph they replace the earlier ones, and nothing else changes', () => {
    const graph = new TypedGraph();
    graph.declare(one, three, 'sequence');
    const served = (...angles: number[]) => [
      { capability: one, intents: at(...angles), lastSeenAt: 0 },
      { capability: two, intents: at(0), lastSeenAt: 0 },
    ];
    const first = graph.replaceType('alternative', alternativeEdges(served(0)));
    expect(first.changed.map(({ from, to }) => [from, to])).toEqual([[one, two]]);
    expect(graph.size).toEqual({ nodes: 3, edges: 2, nonTemplateEdges: 1 });
    expect(graph.replaceType('alternative', alternativeEdges(served(0)))).toEqual({
      changed: [],
      removed: [],
    });
    const last = graph.replaceType('alternative', alternativeEdges(served(90)));
    expect(last.removed.map(({ from, to }) => [from, to])).toEqual([[one, two]]);
    expect(graph.edges().map(({ type }) => type)).toEqual(['sequence']);
    expect(graph.size.nonTemplateEdges).toBe(0);
  });
});
