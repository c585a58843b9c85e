import { z } from 'zod';
import { operation } from './operation.ts';

const DEFAULTS = { most: 500 };

export const forgetTraces = operation({
  name: 'forget_traces',
  right: 'bridge',
  summary: 'Deletes traces with all data of their runs',
  input: z.strictObject({
    ids: z.array(z.string()).max(DEFAULTS.most),
    /** Also those whose runs are unfinished. */
    unfinished: z.boolean().default(false),
  }),
  output: z.object({
    forgotten: z.number(),
    /** Runs that were kept. */
    unfinished_runs: z.array(z.string()),
  }),
  async run({ gateway }, { ids, unfinished }) {
    const removed = await gateway.store.traces.remove(ids, { unfinishedRuns: unfinished });
    return { forgotten: removed.traces, unfinished_runs: removed.unfinishedRuns };
  },
});
