import { z } from 'zod';
import { operation } from './operation.ts';

const size = z.object({ nodes: z.number(), edges: z.number() });

export const rebuildGraph = operation({
  name: 'rebuild_graph',
  right: 'manage',
  summary: 'Rebuilds the graph from all stored traces; responds when done',
  input: z.strictObject({}),
  output: z.object({ traces: z.number(), before: size, after: size }),
  http: { method: 'POST', path: '/graph/rebuild' },
  run: ({ gateway }) => gateway.graph.rebuild(),
});
