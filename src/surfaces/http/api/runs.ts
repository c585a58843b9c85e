import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { planFromWire, planToWire } from '../../../core/vocabulary/plan-wire.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { runToWire, workflowToWire } from '../../../engine/gateway-wire.ts';
import { may, maySee, visibleTo } from '../../../engine/people/roles.ts';
import { findRun, type PendingRun, recentRuns } from '../../../engine/runs/pending-runs.ts';
import { whoIs } from '../guard.ts';
import { callerOf, told } from './execute.ts';
import { countParameter } from './parameters.ts';
import { readBody } from './read-body.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

/** Absent: all that wait. */
const SETTLE = z.strictObject({ approval_ids: z.array(z.string()).optional() });
const APPROVE = SETTLE.extend({
  /** Changed definitions of these tools are accepted for good, not for these calls alone. */
  accept_definition: z.boolean().default(false),
});
const EDIT = z.strictObject({
  /** Absent: the only one that waits. */
  task: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()),
});
const WORKFLOW = z.strictObject({
  /** Absent: the suggestion as it is. */
  workflow: z.looseObject({}).optional(),
  intent: z.string().min(1).optional(),
  /** Whoever asks again with it gets the same run. */
  run_id: z.string().min(1).max(200).optional(),
  /** Of the suggestion that the workflow comes from, changed or not. */
  suggestion_id: z.string().min(1).optional(),
  /** Values of the suggestion's inputs. */
  arguments: z.record(z.string(), z.unknown()).optional(),
});

export function runRoutes(api: Hono, gateway: Gateway): void {
  /** Who decides sees the exact calls; all others see what is kept of them. */
  const shown = async (context: Context, runs: readonly PendingRun[]) =>
    may(whoIs(context), 'decide') ? await gateway.showExact(runs) : runs;
  /** What one may not see is not there. */
  const known = async (context: Context): Promise<PendingRun> => {
    const runId = context.req.param('id') ?? '';
    const found = await findRun(gateway.store, runId);
    if (found && mayLookAt(gateway, whoIs(context), found))
      return (await shown(context, [found]))[0] ?? found;
    throw new PmlError('not_found', `There is no run ${runId}`, { hint: 'See GET /api/runs.' });
  };
  const settle = (decision: 'approved' | 'rejected') => async (context: Context) => {
    const { runId } = await known(context);
    const body = await readBody(context, decision === 'approved' ? APPROVE : SETTLE);
    const accepts = 'accept_definition' in body && body.accept_definition === true;
    const by = deciderOf(context);
    if (!(await gateway.settleApproval(runId, decision, by, body.approval_ids, accepts))) {
      throw new PmlError('store_conflict', `Nothing of run ${runId} waits for a decision any more`, {
        hint: 'See who decided with GET /api/runs/:id.',
      });
    }
    return context.json(wholeRun(await known(context)));
  };
  const goOn = (action: 'resume' | 'abort') => async (context: Context) => {
    const runId = context.req.param('id') ?? '';
    return context.json(workflowToWire(await gateway.continueRun(runId, action, callerOf(context))));
  };

  const edit = async (context: Context) => {
    const { runId } = await known(context);
    const { task, arguments: args } = await readBody(context, EDIT);
    const by = deciderOf(context);
    await gateway.editCall(runId, { arguments: args, by, ...(task !== undefined && { task }) });
    return context.json(wholeRun(await known(context)));
  };

  api.post('/workflows', async (context) => {
    const {
      workflow,
      intent,
      run_id: runId,
      suggestion_id: from,
      ...rest
    } = await readBody(context, WORKFLOW);
    const caller = callerOf(context);
    if (workflow === undefined) {
      if (from === undefined)
        throw new PmlError('invalid_argument', 'There is neither workflow nor suggestion_id');
      const made = await gateway.executeSuggestion(from, rest.arguments ?? {}, caller, runId);
      return context.json(told(workflowToWire(made)));
    }
    const made = await gateway.executeWorkflow(planFromWire(workflow), intent ?? null, caller, runId, from);
    return context.json(told(workflowToWire(made)));
  });
  api.get('/runs', async (context) => {
    const limit = countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit);
    const who = whoIs(context);
    const runs = await recentRuns(gateway.store, limit, visibleTo(who).visibleTo);
    const seen = runs.filter((run) => mayLookAt(gateway, who, run));
    return context.json({ runs: (await shown(context, seen)).map(listedRun) });
  });
  api.get('/runs/:id', async (context) => context.json(wholeRun(await known(context))));
  api.post('/runs/:id/approve', settle('approved'));
  api.post('/runs/:id/reject', settle('rejected'));
  api.post('/runs/:id/edit', edit);
  api.post('/runs/:id/resume', goOn('resume'));
  api.post('/runs/:id/abort', goOn('abort'));
}

/** `kind` is that of the run as it is kept: a plan of tasks, or a single call that waits. */
function listedRun(found: PendingRun) {
  const { run } = found;
  return { ...runToWire(found), kind: run?.kind ?? 'call', task_count: run?.plan?.tasks.length ?? 0 };
}

/** One run with its plan, as it is kept: without secrets. What held some is named and cannot run again. */
function wholeRun(found: PendingRun) {
  const plan = found.run?.plan;
  return {
    ...listedRun(found),
    plan: plan ? planToWire(plan) : null,
    not_kept: plan?.notKept ?? [],
  };
}

/** A call that still waits is not written down yet; what all share is shown all the same. */
function mayLookAt(gateway: Gateway, who: Principal, { run }: PendingRun): boolean {
  if (run) return maySee(who, run);
  return may(who, 'see_all') || gateway.settings().sharing.traces === 'shared';
}

/** For the record of decisions: whose key it was, else a browser that was logged in or a program with the token. */
function deciderOf(context: Context): string {
  const { keyId, name, loginId } = whoIs(context);
  if (keyId !== null) return name;
  return loginId === undefined ? 'api' : 'dashboard';
}
