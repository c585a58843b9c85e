import { expect, test } from 'vitest';
import { node } from '../../../test/support/random-graph.ts';
import { localAlpha } from '../../core/graph/alpha.ts';
import { TypedGraph } from '../../core/graph/typed-graph.ts';
import { graphForSearch } from './graph-for-search.ts';

test('[GRAPH-21] search weighs the graph by all that runs have shown, or by what they have shown around the context', () => {
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
