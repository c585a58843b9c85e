import { wilsonLowerBound } from '../core/capabilities/lifecycle.ts';
import { capabilitySignature } from '../core/capabilities/tool-signature.ts';
import { observedValueFlow } from '../core/tracing/value-flow.ts';
import { type ExecutionTrace, traceToWire } from '../core/vocabulary/execution-trace.ts';
import { planToWire } from '../core/vocabulary/plan-wire.ts';
import type { ErrorShape } from '../core/vocabulary/pml-error.ts';
import { toolText, toolValue } from './calls/call-tool.ts';
import type {
  CapabilityHit,
  CodeRun,
  GatewayStats,
  IntentRun,
  PlannedRun,
  SearchHit,
  ServerReport,
  Suggestion,
  ToolRun,
  WorkflowResult,
} from './gateway.ts';
import { callOrder } from './graph/call-order.ts';
import type { LearningReport } from './learning/learning-service.ts';
import type { Capability, ConsoleLine } from './ports.ts';
import type { PendingRun as RunInQuestion, ShownApproval } from './runs/pending-runs.ts';
import { aheadIn, shownTasks } from './workflow/task-state.ts';

/** What the gateway answers as programs see it: snake_case, dates as text. */

export function statsToWire(stats: GatewayStats) {
  return {
    servers: stats.servers,
    tools: stats.tools,
    capabilities: stats.capabilities,
    traces: stats.traces,
    schema_tokens: stats.schemaTokens,
    exposed_tokens: stats.exposedTokens,
    spared_tokens: stats.sparedTokens,
    pending_approvals: stats.pendingApprovals,
    speculation: {
      ...stats.speculation,
      hit_rate: stats.speculation.started === 0 ? null : stats.speculation.used / stats.speculation.started,
    },
    loop: {
      stalls: stats.loop.stalls,
      stalled_ms: stats.loop.stalledMs,
      longest_ms: stats.loop.longestMs,
      last: stats.loop.last,
    },
  };
}

export function serverToWire(server: ServerReport) {
  return {
    name: server.name,
    transport: server.transport,
    state: server.state,
    since: server.since.toISOString(),
    error: server.error,
    pid: server.pid,
    protocol_version: server.protocolVersion,
    tools: server.tools,
    changed_tools: server.changedTools,
    schema_tokens: server.schemaTokens,
    calls_in_flight: server.callsInFlight,
    calls_waiting: server.callsWaiting,
    garbage_lines: server.garbageLines,
  };
}

export function hitToWire({ tool, signature, related, ...scores }: SearchHit) {
  const { learnedShare, ...parts } = scores.parts;
  return {
    tool_id: tool.id,
    server_id: tool.server,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...(signature !== undefined && { signature }),
    semantic_score: scores.semanticScore,
    graph_score: scores.graphScore,
    final_score: scores.finalScore,
    parts: { ...parts, ...(learnedShare !== undefined && { learned_share: learnedShare }) },
    ...(scores.reasons && { reasons: scores.reasons }),
    related_tools: related.map(({ toolId, relation, score }) => ({ tool_id: toolId, relation, score })),
  };
}

export function capabilityHitToWire(hit: CapabilityHit) {
  return {
    slug: hit.slug,
    description: hit.description,
    parameters: hit.parameters,
    score: hit.score,
    success_rate: hit.successRate,
    uses: hit.uses,
    tools_used: hit.toolsUsed,
    tools_sequence: hit.toolsSequence,
  };
}

const NO_EVIDENCE_FOR_A_PLAN =
  'No past run is of this kind, and no tool fits by its text. Search for tools, then run what fits: it will be known next time.';

export function suggestionToWire(suggestion: Suggestion) {
  const { id, plan, confidence, support, basis, suggestedCapabilities } = suggestion;
  return {
    suggestion_id: id,
    plan: planToWire(plan),
    confidence,
    support,
    basis,
    ...(basis === 'nothing' && { reason: NO_EVIDENCE_FOR_A_PLAN }),
    suggested_capabilities: suggestedCapabilities.map(capabilityHitToWire),
  };
}

export function learningToWire(report: LearningReport) {
  const { model, success } = report;
  return {
    embedding: report.embedding,
    runs: report.runs,
    least_runs: report.leastRuns,
    gate: gateToWire(report.gate),
    model: model && {
      parameters: model.parameters,
      trained_at: model.trainedAt.toISOString(),
      runs: model.runs,
    },
    training: report.training,
    history: report.history.map(({ trainedAt, runs, gate, loss, seconds }) => ({
      trained_at: trainedAt.toISOString(),
      runs,
      gate: gateToWire(gate),
      loss,
      seconds,
    })),
    losses: report.losses,
    evidence: { ...judgedToWire(report.evidence), far: judgedToWire(report.evidence.far) },
    runs_to_ten_percent: report.runsToTenPercent,
    suggestions: suggestionsToWire(report.suggestions),
    success: {
      success_rate: success.successRate,
      mean_path_length: success.meanPathLength,
      mean_absolute_td_error: success.meanAbsoluteTdError,
      statistics_cache: {
        hits: success.statisticsCache.hits,
        misses: success.statisticsCache.misses,
        hit_rate: success.statisticsCache.hitRate,
      },
    },
  };
}

function judgedToWire({ learned, hybrid }: LearningReport['evidence']['far']) {
  return { learned, hybrid };
}

function suggestionsToWire({ made, accepted, edited, rejected }: LearningReport['suggestions']) {
  const settled = accepted + edited + rejected;
  return { made, accepted, edited, rejected, acceptance_rate: settled === 0 ? null : accepted / settled };
}

function gateToWire({ since, ...gate }: LearningReport['gate']) {
  return { ...gate, since: since === null ? null : new Date(since).toISOString() };
}

/** What a tool gave, as data; blocks that are no text stand in `content`. */
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

export function workflowToWire(result: WorkflowResult) {
  const { status, runId, results, layers, approvals, error, next, executed } = result;
  return {
    status,
    run_id: runId,
    results,
    layers,
    approvals: approvals.map(approvalToWire),
    ...(error && { error }),
    ...(next && { next }),
    ...(executed && { executed }),
  };
}

/** A run, or the suggestion and why it was not run. */
export function intentRunToWire({ suggestion, why, run }: IntentRun) {
  if (run)
    return { ...workflowToWire(run), plan: planToWire(suggestion.plan), confidence: suggestion.confidence };
  return {
    status: 'suggestion',
    run_id: null,
    trace_id: null,
    ...suggestionToWire(suggestion),
    why_not_run: why,
  };
}

/** A run of code as a plan: what the program returned, and what its calls gave. */
export function plannedRunToWire({ result, ...run }: PlannedRun) {
  return { ...workflowToWire(run), ...(run.status === 'success' && { result: result ?? null }) };
}

/** What a program wrote, line by line; whatever is no plain output says so. */
export function consoleText(lines: readonly ConsoleLine[]): string {
  return lines.map(({ level, text }) => (level === 'log' ? text : `${level}: ${text}`)).join('\n');
}

export function capabilityToWire(capability: Capability) {
  const { evidence } = capability;
  return {
    ...capabilitySummaryToWire(capability),
    signature: capabilitySignature(capability),
    intent: capability.intentText,
    output: capability.outputSchema,
    code: capability.code,
    evidence: { recent: evidence.recent, run_ids: evidence.runIds },
  };
}

/** The same without its code and where it comes from, for lists. */
export function capabilitySummaryToWire(capability: Capability) {
  const { uses, successes } = capability;
  return {
    id: capability.id,
    slug: capability.slug,
    aliases: capability.aliases,
    description: capability.description,
    owner: capability.owner,
    visibility: capability.visibility,
    state: capability.state,
    quarantined_because: capability.evidence.quarantinedBecause,
    uses,
    success_rate: uses === 0 ? 0 : successes / uses,
    reliability: wilsonLowerBound(successes, uses),
    parameters: capability.parametersSchema,
    tools_used: capability.toolsUsed,
    created_at: capability.createdAt.toISOString(),
    updated_at: capability.updatedAt.toISOString(),
  };
}

/** A trace with what can be seen in it: which values went into the arguments of later calls, and what came after what. */
export function seenTraceToWire(trace: ExecutionTrace) {
  const { events, code, guest } = trace;
  const flows = observedValueFlow(events, { args: guest?.args, code });
  return {
    ...traceToWire(trace),
    value_flow: flows.map(({ from, to, fromPath, toPath, fromTraceId, toTraceId }) => ({
      from,
      to,
      from_path: fromPath,
      to_path: toPath,
      from_trace_id: fromTraceId,
      to_trace_id: toTraceId,
    })),
    follows: callOrder(events).map(({ fromTraceId, toTraceId, pastOperations }) => ({
      from_trace_id: fromTraceId,
      to_trace_id: toTraceId,
      past_operations: pastOperations,
    })),
  };
}

export function runToWire({ runId, run, approvals }: RunInQuestion) {
  return {
    run_id: runId,
    session_id: run?.sessionId ?? null,
    intent: run?.intentText ?? null,
    status: run?.status ?? 'running',
    created_at: (run?.createdAt ?? approvals[0]?.requestedAt)?.toISOString() ?? null,
    updated_at: run?.updatedAt.toISOString() ?? null,
    tasks: run ? shownTasks(run) : {},
    ...(run && aheadIn(run)),
    approvals: approvals.map(approvalToWire),
  };
}

function approvalToWire(approval: ShownApproval) {
  return {
    approval_id: approval.id,
    run_id: approval.runId,
    node: approval.node,
    arguments: approval.arguments,
    /** Whether these are all of the call's; only known to those who may decide. */
    ...(approval.isExact !== undefined && { is_exact: approval.isExact }),
    ...(approval.program && { program: approval.program }),
    ...(approval.changes && {
      definition_changes: approval.changes.map(({ field, before, after }) => ({
        field,
        before: before ?? null,
        after: after ?? null,
      })),
    }),
    arguments_hash: approval.argumentsHash,
    reason: approval.reason,
    state: approval.state,
    requested_at: approval.requestedAt.toISOString(),
    settled_at: approval.settledAt?.toISOString() ?? null,
    settled_by: approval.settledBy,
  };
}
