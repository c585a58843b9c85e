import type { GatewayStats, SearchHit, ServerReport } from './gateway.ts';
import type { Approval } from './ports.ts';
import type { RunInQuestion } from './runs-in-question.ts';

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

export function hitToWire({ tool, related, ...scores }: SearchHit) {
  return {
    tool_id: tool.id,
    server_id: tool.server,
    description: tool.description,
    input_schema: tool.inputSchema,
    lexical_score: scores.lexicalScore,
    semantic_score: scores.semanticScore,
    graph_score: scores.graphScore,
    final_score: scores.finalScore,
    related_tools: related.map(({ toolId, relation, score }) => ({ tool_id: toolId, relation, score })),
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
    tasks: run?.tasks ?? {},
    approvals: approvals.map(approvalToWire),
  };
}

function approvalToWire(approval: Approval) {
  return {
    approval_id: approval.id,
    run_id: approval.runId,
    node: approval.node,
    arguments: approval.arguments,
    arguments_hash: approval.argumentsHash,
    reason: approval.reason,
    state: approval.state,
    requested_at: approval.requestedAt.toISOString(),
    settled_at: approval.settledAt?.toISOString() ?? null,
    settled_by: approval.settledBy,
  };
}
