import { z } from 'zod';
import { maySee } from '../engine/people/roles.ts';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';
import { askerOf, notFound } from './operation-context.ts';
import { execution, executionToWire, withHowToSettle, workflowAnswer, workflowToWire } from './shapes/run.ts';

export const forkRun = operation({
  name: 'fork_run',
  right: 'run',
  summary: 'Repeats a recorded run from one of its calls; earlier calls are answered from the trace',
  input: z.strictObject({
    /** Of the run, or of its trace. */
    run_id: z.string(),
    /** `filesystem:read_file#0`, or the trace id of the call. */
    at: z.string().max(1_000),
    /** What the call is said to have given, or what it is made with. */
    set: z
      .union([z.strictObject({ result: z.unknown() }), z.strictObject({ arguments: jsonObject })])
      .optional(),
    /** Instead of the program that ran. */
    code: z.string().optional(),
  }),
  /** As of what was forked: of a workflow, the results of its tasks. */
  output: z.union([execution, workflowAnswer]),
  http: { method: 'POST', path: '/runs/:run_id/fork' },
  async run({ gateway }, { run_id: id, at, set, code }, caller) {
    const { traces } = gateway.store;
    const [newest] = await traces.list({ runId: id, limit: 1 });
    const found = newest ?? (await traces.get(id));
    if (!found || !maySee(askerOf(caller), found)) throw notFound('Run', id, 'See GET /api/traces.');
    const fork = { at, ...(set && { set }), ...(code !== undefined && { code }) };
    const made = await gateway.forkRun(found, fork, caller);
    return withHowToSettle(made.layers.length > 0 ? workflowToWire(made) : executionToWire(made));
  },
});
