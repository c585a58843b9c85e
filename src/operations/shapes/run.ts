import { z } from 'zod';
import { planToWire } from '../../core/vocabulary/plan.ts';
import type { ConsoleLine } from '../../engine/ports.ts';
import {
  aheadIn,
  type DefinitionChange,
  diffLines,
  type PendingRun,
  type ShownApproval,
  shownTasks,
} from '../../engine/runs/pending-runs.ts';
import type { RunError, RunResult } from '../../engine/runs/run.ts';
import type { IntentRun } from '../../engine/runs/run-service.ts';
import { jsonObject } from '../input-fields.ts';
import { errorShape } from '../list-servers.ts';
import type { Immutable } from '../operation.ts';
import { plan, planEdge } from '../plan-from-code.ts';
import { suggestion, suggestionToWire } from '../suggest.ts';

/** A field as accepted and as it is now; null if it is absent. */
export const definitionChange = z.object({
  field: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  /** Both in full, line by line: what is gone with `- `, what is new with `+ `, the rest with two spaces. */
  diff: z.array(z.string()),
});

const approval = z
  .object({
    approval_id: z.string(),
    run_id: z.string(),
    node: z.string(),
    arguments: z.unknown(),
    /** Whether the arguments are complete; absent for callers who may not decide. */
    is_exact: z.boolean().optional(),
    /** The code or capability to run, if it is not a tool. */
    program: z.object({ code: z.string().optional(), capability: z.string().optional() }).optional(),
    /** Changes of the tool's definition since it was accepted. */
    definition_changes: z.array(definitionChange).optional(),
    arguments_hash: z.string(),
    reason: z.string(),
    state: z.enum(['pending', 'approved', 'rejected', 'used']),
    requested_at: z.string(),
    settled_at: z.string().nullable(),
    settled_by: z.string().nullable(),
  })
  .meta({ id: 'Approval' });

/** Tasks in state `waiting` or `unknown` wait for a decision. */
const taskState = z
  .object({
    status: z.enum(['pending', 'running', 'waiting', 'unknown', 'success', 'error', 'skipped']),
    approval_id: z.string().optional(),
    edited_arguments: jsonObject.optional(),
    result: z.unknown().optional(),
    /** False if redaction removed something. */
    is_whole: z.boolean().optional(),
    /** Number of items of a list. */
    items: z.number().optional(),
    duration_ms: z.number().optional(),
    /** Milliseconds since 1970. */
    at: z.number().optional(),
    error: errorShape.optional(),
    /** Why it was skipped. */
    because: z.string().optional(),
    by: z.enum(['condition', 'failure']).optional(),
  })
  .meta({ id: 'TaskState' });

/** A workflow, or a single call that waits for approval. */
export const listedRun = z
  .object({
    run_id: z.string(),
    session_id: z.string().nullable(),
    intent: z.string().nullable(),
    status: z.enum(['running', 'paused', 'success', 'error', 'aborted']),
    created_at: z.string().nullable(),
    updated_at: z.string().nullable(),
    /** States of tasks that have started, and of items of lists. */
    tasks: z.record(z.string(), taskState),
    /** Speculative calls. */
    ahead: z.object({ started: z.number(), used: z.number() }).optional(),
    approvals: z.array(approval),
    kind: z.enum(['call', 'workflow']),
    /** Number of tasks in the plan. */
    task_count: z.number(),
  })
  .meta({ id: 'ListedRun' });

/** One run with its plan, as stored. */
export const wholeRun = listedRun
  .extend({
    plan: plan.nullable(),
    /** Tasks with secrets, which were not stored: these cannot run again. */
    not_kept: z.array(z.string()),
  })
  .meta({ id: 'WholeRun' });

/** How to decide about a waiting run, and how to resume it. */
const howToSettle = z.object({
  approve: z.string(),
  /** How to approve later calls as well. */
  always: z.string(),
  reject: z.string(),
  afterwards: z.string(),
});

/** The outcome of a tool call, a program or a capability. */
export const execution = z
  .object({
    status: z.enum(['success', 'error', 'approval_required', 'suggestion']),
    run_id: z.string(),
    trace_id: z.string().nullable(),
    result: z.unknown().optional(),
    console: z.string().optional(),
    /** Content blocks of a tool's result that are not text. */
    content: z.array(z.unknown()).optional(),
    error: errorShape.extend({ line: z.number().optional(), column: z.number().optional() }).optional(),
    approval: approval.optional(),
    how_to_settle: howToSettle.optional(),
  })
  .meta({ id: 'Execution' });

/** State of a workflow and results of its tasks. */
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
    /** After `replan`: the completed tasks in order. */
    executed: z.array(z.string()).optional(),
    how_to_settle: howToSettle.optional(),
  })
  .meta({ id: 'WorkflowAnswer' });

/** The outcome of a program that ran as a plan. */
export const plannedAnswer = workflowAnswer.extend({ result: z.unknown().optional() });

/** The outcome of an intent alone: a run of the suggested plan, or the suggestion and why it was not run. */
export const intentAnswer = z.union([
  workflowAnswer.extend({ plan, confidence: z.number() }),
  suggestion.extend({
    status: z.literal('suggestion'),
    run_id: z.null(),
    trace_id: z.null(),
    why_not_run: z.array(z.string()),
    edges: z.array(planEdge).optional(),
    how_to_run: z.string().optional(),
  }),
]);

type TaskStates = Readonly<Record<string, Immutable<z.infer<typeof taskState>>>>;

/** The outcome of a tool, a program or a capability; content blocks that are not text are in `content`. */
export function executionToWire(run: RunResult) {
  const blocks = (run.toolResult?.content ?? []).filter(({ type }) => type !== 'text');
  const [asked] = run.approvals;
  return {
    // A single task that waits for no decision has ended.
    status: run.status === 'success' || run.status === 'approval_required' ? run.status : ('error' as const),
    run_id: run.runId,
    trace_id: run.traceId,
    // A program that returned nothing has the result `null`.
    ...(run.status === 'success' && { result: run.result ?? null }),
    ...(run.console.length > 0 && { console: consoleText(run.console) }),
    ...(blocks.length > 0 && { content: blocks }),
    ...(run.error && { error: errorToWire(run.error) }),
    ...(asked && { approval: approvalToWire(asked) }),
  };
}

/** Without fields that only the transparent endpoint passes on; with the position in the code, if any. */
export function errorToWire({ code, message, hint, line, column }: RunError) {
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

/** Console output, one line each; lines other than plain output start with their level. */
export function consoleText(lines: readonly ConsoleLine[]): string {
  return lines.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n');
}

export function workflowToWire(made: RunResult) {
  const { status, runId, results, layers, approvals, error, next, executed } = made;
  return {
    status,
    run_id: runId,
    results: results as TaskStates,
    layers,
    approvals: approvals.map(approvalToWire),
    ...(error && { error: errorToWire(error) }),
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

/** A code run as a plan: the program's return value, and the results of its calls. */
export function plannedRunToWire(run: RunResult) {
  return { ...workflowToWire(run), ...(run.status === 'success' && { result: run.result ?? null }) };
}

function runToWire({ runId, run, approvals }: PendingRun) {
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

/** `kind` is that of the stored run: a plan of tasks, or a single waiting call. */
export function listedRunToWire(found: PendingRun) {
  const { run } = found;
  return {
    ...runToWire(found),
    kind: run?.kind ?? ('call' as const),
    task_count: run?.plan?.tasks.length ?? 0,
  };
}

/** As stored: without secrets. Tasks that had secrets are named and cannot run again. */
export function wholeRunToWire(found: PendingRun) {
  const stored = found.run?.plan;
  return {
    ...listedRunToWire(found),
    plan: stored ? planToWire(stored) : null,
    not_kept: stored?.notKept ?? [],
  };
}

export function changeToWire({ field, before, after }: DefinitionChange) {
  return { field, before: before ?? null, after: after ?? null, diff: diffLines(before, after) };
}

function approvalToWire(asked: ShownApproval) {
  return {
    approval_id: asked.id,
    run_id: asked.runId,
    node: asked.node,
    arguments: asked.arguments,
    ...(asked.isExact !== undefined && { is_exact: asked.isExact }),
    ...(asked.program && { program: asked.program }),
    ...(asked.changes && { definition_changes: asked.changes.map(changeToWire) }),
    arguments_hash: asked.argumentsHash,
    reason: asked.reason,
    state: asked.state,
    requested_at: asked.requestedAt.toISOString(),
    settled_at: asked.settledAt?.toISOString() ?? null,
    settled_by: asked.settledBy,
  };
}

/** Adds how to decide to a run that waits for approval. */
export function withHowToSettle<T extends { readonly status: string; readonly run_id: string }>(run: T) {
  if (run.status !== 'approval_required') return run;
  const at = `POST /api/runs/${run.run_id}`;
  return {
    ...run,
    how_to_settle: {
      approve: `${at}/approve`,
      always: '{"always": "tool", "arguments" or "session"} with it approves later calls, too',
      reject: `${at}/reject`,
      afterwards: `${at}/resume`,
    },
  };
}
