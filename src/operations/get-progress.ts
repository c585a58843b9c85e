import { z } from 'zod';
import { operation } from './operation.ts';

export const getProgress = operation({
  name: 'get_progress',
  right: 'read',
  summary: 'Progress of long tasks; null for those not running',
  input: z.strictObject({}),
  output: z.object({
    /** Traces read so far, and their total. */
    graph_rebuild: z.object({ traces: z.number(), of: z.number() }).nullable(),
    /** The table that is written, and how many of its rows are. */
    backup: z.object({ table: z.string(), rows: z.number() }).nullable(),
  }),
  http: { method: 'GET', path: '/progress' },
  run: async ({ gateway, holder }) => ({
    graph_rebuild: await gateway.graph.rebuilding(),
    backup: holder?.backupProgress() ?? null,
  }),
});
