import { z } from 'zod';
import { type ExecutionTrace, wasGood } from '../core/vocabulary/execution-trace.ts';
import { kindOf } from '../core/vocabulary/ids.ts';
import { keyOf } from '../engine/learning/learnable-run.ts';
import { maySee, visibleTo } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf, notFound } from './operation-context.ts';

const DEFAULTS = {
  /** Earlier runs that are looked at, newest first. */
  runs: 100,
};

/** What makes two runs the same kind of work, the surest first. */
const LIKENESSES = ['capability', 'intent', 'program', 'calls'] as const;

export const findGoodRun = operation({
  name: 'find_good_run',
  right: 'read',
  summary: 'The last good run of the same kind before a given run, for comparison',
  input: z.strictObject({ trace_id: z.string() }),
  output: z.object({
    /** Null: none of the runs before it. */
    trace_id: z.string().nullable(),
    /** What both have in common. */
    same: z.enum(LIKENESSES).nullable(),
  }),
  http: { method: 'GET', path: '/traces/:trace_id/good' },
  async run({ gateway }, { trace_id: id }, caller) {
    const who = askerOf(caller);
    const { traces } = gateway.store;
    const found = await traces.get(id);
    if (!found || !maySee(who, found)) throw notFound('Trace', id, 'See GET /api/traces.');
    // A run that failed made fewer calls, but began as the others did.
    const first = found.executedPath.find((node) => kindOf(node) !== 'operation');
    const earlier = await traces.list({
      ...visibleTo(who),
      ...(first === undefined ? {} : { node: first }),
      before: found.id,
      byTime: true,
      limit: DEFAULTS.runs,
    });
    const good = earlier.filter((run) => run.runId !== found.runId && isFirstHand(run) && wasGood(run));
    for (const same of LIKENESSES) {
      const match = good.find((run) => isAlike(found, run, same));
      if (match) return { trace_id: match.id, same };
    }
    return { trace_id: null, same: null };
  },
});

/** Repeats show no work of their own: PML runs a program again by itself, whenever it has the time. */
function isFirstHand({ origin }: ExecutionTrace): boolean {
  return origin === 'agent' || origin === 'self';
}

function isAlike(a: ExecutionTrace, b: ExecutionTrace, same: (typeof LIKENESSES)[number]): boolean {
  switch (same) {
    case 'capability':
      return a.capabilityId !== null && a.capabilityId === b.capabilityId;
    case 'intent':
      return a.intentText !== null && b.intentText !== null && keyOf(a.intentText) === keyOf(b.intentText);
    case 'program':
      return a.code !== null && a.code === b.code;
    case 'calls':
      return a.code === null && b.code === null && a.executedPath.join() === b.executedPath.join();
  }
}
