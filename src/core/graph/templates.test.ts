import { describe, expect, test } from 'vitest';
import { shippedTemplates } from '../../../test/support/shipped-templates.ts';
import { toolId } from '../vocabulary/ids.ts';
import { readTemplates } from './templates.ts';
import { TypedGraph } from './typed-graph.ts';

const file = (...edges: unknown[]) => ({ templates: { one: { edges } } });

describe('[GRAPH-22] templates', () => {
  test('the shipped templates can be read and make a graph of template edges', () => {
    const edges = readTemplates(shippedTemplates());
    const graph = new TypedGraph();
    for (const { from, to, type } of edges) graph.declare(from, to, type);
    expect(graph.edges().length).toBe(edges.length);
    expect(graph.size.nonTemplateEdges).toBe(0);
    const navigate = toolId('playwright', 'playwright_navigate');
    const screenshot = toolId('playwright', 'playwright_screenshot');
    expect(graph.edge(navigate, screenshot, 'dependency')).toMatchObject({
      source: 'template',
      observedCount: 0,
      lastSeenAt: null,
    });
  });

  test('an edge has its own type, otherwise that of its template, otherwise dependency; ids may be spelt in any way', () => {
    const templates = {
      plain: { edges: [['s:a', 's__b']] },
      typed: {
        type: 'sequence',
        edges: [
          ['s:a', 's:b'],
          ['s:a', 's:c', 'provides'],
        ],
      },
    };
    const edges = readTemplates({ templates });
    expect(edges.map(({ from, to, type }) => `${from} ${to} ${type}`)).toEqual([
      's:a s:b dependency',
      's:a s:b sequence',
      's:a s:c provides',
    ]);
  });

  test.each([
    ['no map', null, '"templates" must be a map'],
    ['a list', { templates: [] }, '"templates" must be a map'],
    ['no edges', { templates: { one: {} } }, 'templates.one needs a list "edges"'],
    ['no pair', file(['s:a']), 'templates.one.edges[0] must be [from, to]'],
    ['no id', file(['s:a', 's:b'], ['s:a', 'nothing']), 'templates.one.edges[1]: "nothing" is not a tool id'],
    ['no type', file(['s:a', 's:b', 'often']), 'has type "often"; there are dependency'],
    ['a loop', file(['s:a', 's.a']), 'leads from s:a to itself'],
  ])('%s is rejected with its place', (_, given, expected) => {
    expect(() => readTemplates(given)).toThrow(expected);
  });

  test('all problems are reported at once', () => {
    expect(() => readTemplates(file(['s:a'], ['s:a', 's:b', 'often']))).toThrow(/edges\[0\].*edges\[1\]/);
  });
});
