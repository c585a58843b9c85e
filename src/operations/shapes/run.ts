import { z } from 'zod';
import { planToWire } from '../../core/vocabulary/plan-wire.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import { RUN_STATUSES } from '../../core/vocabulary/pml-error.ts';
import { toolText, toolValue } from '../../engine/calls/call-tool.ts';
import type { CodeRun, IntentRun, PlannedRun, ToolRun, WorkflowResult } from '../../engine/gateway.ts';
import type { ConsoleLine } from '../../engine/ports.ts';
import type { PendingRun, ShownApproval } from '../../engine/runs/pending-runs.ts';
import { aheadIn, shownTasks } from '../../engine/workflow/task-state.ts';
import { jsonObject } from '../fields.ts';
import type { Immutable } from '../operation.ts';
import { errorShape } from './server.ts';
import { plan, suggestion, suggestionToWire } from './suggestion.ts';

const approval = z
  .object({
    approval_id: z.string(),
    run_id: z.string(),
    node: z.string(),
    arguments: z.unknown(),
    /** Whether these are all of the call's; absent for a caller who may not decide. */
    is_exact: z.boolean().optional(),
    /** What runs, where it is not a tool. */
    program: z.object({ code: z.string().optional(), capability: z.string().optional() }).optional(),
    /** What its server changed of the tool since it was accepted; null where there is nothing. */
    definition_changes: z
      .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }))
      .optional(),
    arguments_hash: z.string(),
    reason: z.string(),
    state: z.enum(['pending', 'approved', 'rejected', 'used']),
    requested_at: z.string(),
    settled_at: z.string().nullable(),
    settled_by: z.string().nullable(),
  })
  .meta({ id: 'Approval' });

/** `waiting` and `unknown` ones wait for a person. */
const taskState = z
  .object({
    status: z.enum(['pending', 'running', 'waiting', 'unknown', 'success', 'error', 'skipped']),
    approval_id: z.string().optional(),
    edited_arguments: jsonObject.optional(),
    result: z.unknown().optional(),
    /** False where redaction took something away. */
    is_whole: z.boolean().optional(),
    /** Of a list. */
    items: z.number().optional(),
    duration_ms: z.number().optional(),
    /** In milliseconds since 1970. */
    at: z.number().optional(),
    error: errorShape.optional(),
    /** Why it was skipped. */
    because: z.string().optional(),
    by: z.enum(['condition', 'failure']).optional(),
  })
  .meta({ id: 'TaskState' });

/** A workflow, or a single call that waits for a person. */
export const listedRun = z
  .object({
    run_id: z.string(),
    session_id: z.string().nullable(),
    intent: z.string().nullable(),
    status: z.enum(['running', 'paused', 'success', 'error', 'aborted']),
    created_at: z.string().nullable(),
    updated_at: z.string().nullable(),
    /** Of the tasks that were touched, and of items of lists. */
    tasks: z.record(z.string(), taskState),
    /** Calls that were made ahead of their turn. */
    ahead: z.object({ started: z.number(), used: z.number() }).optional(),
    approvals: z.array(approval),
    kind: z.enum(['call', 'workflow']),
    /** Of the plan. */
    task_count: z.number(),
  })
  .meta({ id: 'ListedRun' });

/** One run with its plan, as it is stored. */
export const wholeRun = listedRun
  .extend({
    plan: plan.nullable(),
    /** Tasks that held secrets, which were not stored: these cannot run again. */
    not_kept: z.array(z.string()),
  })
  .meta({ id: 'WholeRun' });

/** How a person decides about a run that waits, and how it continues. */
const howToSettle = z.object({ approve: z.string(), reject: z.string(), afterwards: z.string() });

/** What a tool, a program or a capability gave. */
export const execution = z
  .object({
    status: z.enum(RUN_STATUSES),
    run_id: z.string(),
    trace_id: z.string().nullable(),
    result: z.unknown().optional(),
    console: z.string().optional(),
    /** Blocks of a tool's result that are not text. */
    content: z.array(z.unknown()).optional(),
    error: errorShape.extend({ line: z.number().optional(), column: z.number().optional() }).optional(),
    approval: approval.optional(),
    how_to_settle: howToSettle.optional(),
  })
  .meta({ id: 'Execution' });

/** How far a workflow came, with what its tasks gave. */
export const workflowAnswer = z
  .object({
    status: z.enum(['success', 'error', 'approval_required', 'decision_required', 'running', 'aborted']),
    run_id: z.string(),
    results: z.record(z.string(), taskState),
    layers: z.array(z.array(z.string())),
    approvals: z.array(approval),
    error: errorShape.optional(),
    /** With `decision_required`: the tasks that would run next. */
    next: z.array(z.string()).optional(),
    /** After `replan`: what is done, in the order it ended. */
    executed: z.array(z.string()).optional(),
    how_to_settle: howToSettle.optional(),
  })
  .meta({ id: 'WorkflowAnswer' });

/** What a program gave that was run as a plan. */
export const plannedAnswer = workflowAnswer.extend({ result: z.unknown().optional() });

/** What an intent alone led to: a run of the suggested plan, or the suggestion and why it was not run. */
export const intentAnswer = z.union([
  workflowAnswer.extend({ plan, confidence: z.number() }),
  suggestion.extend({
    status: z.literal('suggestion'),
    run_id: z.null(),
    trace_id: z.null(),
    why_not_run: z.array(z.string()),
    how_to_run: z.string().optional(),
  }),
]);

type TaskStates = Readonly<Record<string, Immutable<z.infer<typeof taskState>>>>;

/** What a tool gave, as data; blocks that are not text are in `content`. */
export function toolRunToWire(run: ToolRun) {
  const { result } = run;
  const blocks = (result?.content ?? []).filter(({ type }) => type !== 'text');
  return {
    status: run.status,
    run_id: run.runId,
    trace_id: run.traceId,
    ...(run.status === 'success' && { result: result ? toolValue(result) : null }),
    ...(blocks.length > 0 && { content: blocks }),
    ...(run.status === 'error' && { error: toolRunError(run) }),
    ...(run.approval && { approval: approvalToWire(run.approval) }),
  };
}

/** What kept the call from being made, or what the tool itself says. */
function toolRunError({ result, error }: ToolRun): ErrorShape {
  if (!error) return { code: 'tool_failed', message: result ? toolText(result) : '' };
  const { code, message, hint } = error;
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** What a run of code gave. A program that returned nothing gave `null`. */
export function codeRunToWire(run: CodeRun) {
  return {
    status: run.status,
    run_id: run.runId,
    trace_id: run.traceId,
    ...(run.status === 'success' && { result: run.result ?? null }),
    ...(run.console.length > 0 && { console: consoleText(run.console) }),
    ...(run.error && { error: run.error }),
    ...(run.approval && { approval: approvalToWire(run.approval) }),
  };
}

/** What a program wrote, line by line; all but plain output says its level. */
export function consoleText(lines: readonly ConsoleLine[]): string {
  return lines.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n');
}

export function workflowToWire(made: WorkflowResult) {
  const { status, runId, results, layers, approvals, error, next, executed } = made;
  return {
    status,
    run_id: runId,
    results: results as TaskStates,
    layers,
    approvals: approvals.map(approvalToWire),
    ...(error && { error }),
    ...(next && { next }),
    ...(executed && { executed }),
  };
}

export function intentRunToWire({ suggestion: made, why, run }: IntentRun) {
  if (run) return { ...workflowToWire(run), plan: planToWire(made.plan), confidence: made.confidence };
  return {
    status: 'suggestion' as const,
    run_id: null,
    trace_id: null,
    ...suggestionToWire(made),
    why_not_run: why,
  };
}

/** A run of code as a plan: what the program returned, and what its calls gave. */
export function plannedRunToWire({ result, ...run }: PlannedRun) {
  return { ...workflowToWire(run), ...(run.status === 'success' && { result: result ?? null }) };
}

export function runToWire({ runId, run, approvals }: PendingRun) {
  return {
    run_id: runId,
    session_id: run?.sessionId ?? null,
    intent: run?.intentText ?? null,
    status: run?.status ?? ('running' as const),
    created_at: (run?.createdAt ?? approvals[0]?.requestedAt)?.toISOString() ?? null,
    updated_at: run?.updatedAt.toISOString() ?? null,
    tasks: (run ? shownTasks(run) : {}) as TaskStates,
    ...(run && aheadIn(run)),
    approvals: approvals.map(approvalToWire),
  };
}

/** `kind` is that of the run as it is stored: a plan of tasks, or a single call that waits. */
export function listedRunToWire(found: PendingRun) {
  const { run } = found;
  return {
    ...runToWire(found),
    kind: run?.kind ?? ('call' as const),
    task_count: run?.plan?.tasks.length ?? 0,
  };
}

/** As it is stored: without secrets. What held some is named and cannot run again. */
export function wholeRunToWire(found: PendingRun) {
  const stored = found.run?.plan;
  return {
    ...listedRunToWire(found),
    plan: stored ? planToWire(stored) : null,
    not_kept: stored?.notKept ?? [],
  };
}

function approvalToWire(asked: ShownApproval) {
  return {
    approval_id: asked.id,
    run_id: asked.runId,
    node: asked.node,
    arguments: asked.arguments,
    ...(asked.isExact !== undefined && { is_exact: asked.isExact }),
    ...(asked.program && { program: asked.program }),
    ...(asked.changes && {
      definition_changes: asked.changes.map(({ field, before, after }) => ({
        field,
        before: before ?? null,
        after: after ?? null,
      })),
    }),
    arguments_hash: asked.argumentsHash,
    reason: asked.reason,
    state: asked.state,
    requested_at: asked.requestedAt.toISOString(),
    settled_at: asked.settledAt?.toISOString() ?? null,
    settled_by: asked.settledBy,
  };
}
