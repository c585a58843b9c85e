import { z } from 'zod';
import { visibleTo } from '../engine/people/roles.ts';
import { recentRuns, waitingRuns } from '../engine/runs/pending-runs.ts';
import { seenBy } from './get-run.ts';
import { count } from './input-fields.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { listedRun, listedRunToWire } from './shapes/run.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export const listRuns = operation({
  name: 'list_runs',
  right: 'read',
  scoped: true,
  summary: 'Runs that wait for a decision first, then the others, newest first',
  input: z.strictObject({
    limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
    /** Returns only the runs that wait for a decision, without a limit. */
    waiting: z.boolean().default(false),
  }),
  output: z.object({ runs: z.array(listedRun) }),
  http: { method: 'GET', path: '/runs' },
  async run({ gateway }, { limit, waiting }, caller) {
    const runs = waiting
      ? await waitingRuns(gateway.store)
      : await recentRuns(gateway.store, limit, visibleTo(askerOf(caller)).visibleTo);
    return { runs: (await seenBy(caller, gateway, runs)).map(listedRunToWire) };
  },
});
