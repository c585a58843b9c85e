import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Caller, Gateway, IntentRun } from '../../../engine/gateway.ts';
import {
  codeRunToWire,
  intentRunToWire,
  plannedRunToWire,
  toolRunToWire,
} from '../../../engine/gateway-wire.ts';
import { may } from '../../../engine/people/roles.ts';
import { whoIs } from '../guard.ts';
import { readBody } from './read-body.ts';

const DEFAULTS = { maxTimeoutMs: 24 * 60 * 60_000 };

/** What any call may say besides what it runs. */
export const CALL = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).default({}),
  intent: z.string().min(1).optional(),
  timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
});

const EXECUTE = CALL.extend({
  tool: z.string().min(1).optional(),
  code: z.string().min(1).optional(),
  capability: z.string().min(1).optional(),
  /** With code: as a workflow, reads in parallel. */
  as_plan: z.boolean().default(false),
});

export function executeRoutes(api: Hono, gateway: Gateway): void {
  api.post('/execute', async (context) => {
    const { tool, code, capability, as_plan: asPlan, ...call } = await readBody(context, EXECUTE);
    const given = [tool, code, capability].filter((body) => body !== undefined);
    const { intent } = call;
    if (given.length === 0 && intent !== undefined) {
      const made = await gateway.executeIntent({ intent, arguments: call.arguments }, callerOf(context));
      return context.json(toldIntent(made));
    }
    if (given.length !== 1) {
      throw new PmlError('invalid_argument', 'A run is of exactly one of tool, code, capability and intent', {
        hint: 'For example {"code": "return await mcp.memory.read_graph()"}.',
      });
    }
    const rest = callOf(call);
    const caller = callerOf(context);
    if (tool !== undefined)
      return context.json(told(toolRunToWire(await gateway.executeTool({ tool, ...rest }, caller))));
    if (code !== undefined && asPlan)
      return context.json(told(plannedRunToWire(await gateway.executeAsPlan({ code, ...rest }, caller))));
    const made =
      code === undefined
        ? await gateway.executeCapability({ capability: capability ?? '', ...rest }, caller)
        : await gateway.executeCode({ code, ...rest }, caller);
    return context.json(told(codeRunToWire(made)));
  });
}

/** A program with a key: it has no session, and what it no longer waits for is cancelled. */
export function callerOf(context: Context): Caller {
  const who = whoIs(context);
  return { sessionId: null, signal: context.req.raw.signal, isPerson: may(who, 'decide'), who };
}

export function callOf({ timeout_ms: timeoutMs, intent, arguments: args }: z.infer<typeof CALL>) {
  return {
    arguments: args,
    ...(intent !== undefined && { intent }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function toldIntent(made: IntentRun) {
  const wire = intentRunToWire(made);
  if (made.run) return told(wire as typeof wire & { run_id: string });
  const { id } = made.suggestion;
  if (id === null) return wire;
  const call = { suggestion_id: id, arguments: {} };
  return { ...wire, how_to_run: `POST /api/workflows with ${JSON.stringify(call)}` };
}

/** A run as it is told, with the way on where it waits for a person. */
export function told<T extends { status: string; run_id: string }>(run: T) {
  if (run.status !== 'approval_required') return run;
  const at = `POST /api/runs/${run.run_id}`;
  return {
    ...run,
    how_to_settle: { approve: `${at}/approve`, reject: `${at}/reject`, afterwards: `${at}/resume` },
  };
}
