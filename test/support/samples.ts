import { randomUUID } from 'node:crypto';
import type { GraphEdge, NodeStatistics } from '../../src/core/graph/graph-edge.ts';
import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../src/core/vocabulary/tool-definition.ts';
import type { Approval, Capability, WorkflowRun } from '../../src/engine/ports.ts';
import type { RunResult } from '../../src/engine/runs/run.ts';

/** Complete, varied values of everything that is stored; each call creates new ids. */
export function sampleTool(server = 'filesystem', name = `tool_${randomUUID().slice(0, 8)}`): ToolDefinition {
  return {
    id: toolId(server, name),
    server,
    name,
    description: 'Reads a file — “whole”, with its encoding.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    definitionHash: randomUUID(),
  };
}

export function sampleTrace(over: Partial<ExecutionTrace> = {}): ExecutionTrace {
  const read = toolId('filesystem', 'read_file');
  const filter = operationId('filter');
  const capability = capabilityNode(randomUUID());
  return {
    id: randomUUID(),
    runId: randomUUID(),
    sessionId: 'session-1',
    origin: 'agent',
    owner: 'ada',
    visibility: 'shared',
    capabilityId: null,
    intentText: 'read a file and keep the long lines',
    intentEmbedding: Float32Array.from({ length: 384 }, (_, i) => Math.sin(i)),
    embeddingModel: 'test-model',
    executedAt: new Date('2026-03-04T05:06:07.089Z'),
    success: false,
    durationMs: 12.345,
    errorMessage: 'no such file',
    errorType: 'NOT_FOUND',
    executedPath: [capability, read, filter],
    toolInvocations: [
      {
        id: `${read}#0`,
        tool: read,
        ts: 1.25,
        durationMs: 3.5,
        sequenceIndex: 0,
        success: true,
        parallelWith: [],
      },
    ],
    decisions: [{ at: 'layer-1', choice: 'continue' }],
    taskResults: [{ id: 't1', status: 'success' }],
    priority: 0.5,
    events: [
      { type: 'capability_start', traceId: 'a', parentTraceId: null, node: capability, ts: 0.5 },
      {
        type: 'tool_start',
        traceId: 'b',
        parentTraceId: 'a',
        node: read,
        ts: 1.25,
        args: { path: 'notes.txt' },
      },
      {
        type: 'tool_end',
        traceId: 'b',
        parentTraceId: 'a',
        node: read,
        ts: 4.75,
        success: true,
        durationMs: 3.5,
        result: { text: 'zero \u0000, lone \ud800, emoji 🎈' },
      },
      {
        type: 'capability_end',
        traceId: 'a',
        parentTraceId: null,
        node: capability,
        ts: 12,
        success: false,
        durationMs: 11.5,
        error: 'no such file',
        errorType: 'NOT_FOUND',
      },
    ],
    code: 'const text = await mcp.filesystem.read_file(args);\nreturn text.split("\\n")',
    guest: { seed: 'a1b2c3', startedAt: 1_700_000_000_000.5 },
    ...over,
  };
}

export function sampleEdge(from: NodeId, to: NodeId, over: Partial<GraphEdge> = {}): GraphEdge {
  return {
    from,
    to,
    type: 'sequence',
    source: 'inferred',
    observedCount: 1,
    invocationCount: 2,
    lastSeenAt: 1_700_000_000_000.25,
    valuePaths: [],
    ...over,
  };
}

export function sampleStatistics(node: NodeId, over: Partial<NodeStatistics> = {}): NodeStatistics {
  const counts = { runs: 2, calls: 5, failures: 1, repeats: 3, repeatRuns: 1 };
  return { node, ...counts, lastSeenAt: 1_700_000_000_000.25, ...over };
}

export function sampleCapability(over: Partial<Capability> = {}): Capability {
  const unique = randomUUID().slice(0, 8);
  return {
    id: randomUUID(),
    slug: `read_long_lines_${unique}`,
    aliases: [`old_name_${unique}`],
    description: 'Keeps the long lines of a file',
    codeHash: randomUUID(),
    code: 'return (await mcp.filesystem.read_file(args)).split("\\n")',
    parametersSchema: { type: 'object' },
    outputSchema: { type: 'array' },
    toolsUsed: [toolId('filesystem', 'read_file')],
    toolInvocations: [{ id: 'filesystem:read_file#0' }],
    staticStructure: { nodes: [], edges: [] },
    template: { source: 'return 1', slots: [{ start: 7, end: 8, value: 1 }] },
    evidence: {
      recent: [true, false, true],
      runIds: ['run-1', 'run-2'],
      definitionHashes: { 'filesystem:read_file': 'abc' },
      intents: ['long lines'],
      quarantinedBecause: null,
    },
    intentText: 'long lines',
    owner: 'ada',
    visibility: 'shared',
    state: 'active',
    uses: 3,
    successes: 2,
    revision: 1,
    createdAt: new Date('2026-01-02T03:04:05.006Z'),
    updatedAt: new Date('2026-01-03T03:04:05.006Z'),
    ...over,
  };
}

export function sampleRun(over: Partial<WorkflowRun> = {}): WorkflowRun {
  return {
    id: randomUUID(),
    kind: 'workflow',
    sessionId: null,
    origin: 'agent',
    owner: 'ada',
    visibility: 'shared',
    intentText: 'summarise a folder',
    plan: { tasks: [{ id: 't1', tool: 'filesystem:read_file', arguments: {}, dependsOn: [] }], inputs: [] },
    status: 'running',
    tasks: { t1: { status: 'running' } },
    version: 1,
    createdAt: new Date('2026-01-02T03:04:05.006Z'),
    updatedAt: new Date('2026-01-02T03:04:05.006Z'),
    ...over,
  };
}

export function sampleApproval(over: Partial<Approval> = {}): Approval {
  return {
    id: randomUUID(),
    runId: randomUUID(),
    node: toolId('filesystem', 'write_file'),
    argumentsHash: randomUUID(),
    arguments: { path: 'out.txt', content: 'hello' },
    reason: 'its server marks the tool as destructive',
    state: 'pending',
    requestedAt: new Date('2026-01-02T03:04:05.006Z'),
    settledAt: null,
    settledBy: null,
    ...over,
  };
}

/** A capability that can be called with any arguments. */
export function readyCapability(over: Partial<Capability>, nth = 0): Capability {
  return sampleCapability({
    id: randomUUID(),
    slug: `capability_${nth}`,
    aliases: [],
    codeHash: randomUUID(),
    parametersSchema: { type: 'object' },
    state: 'active',
    ...over,
  });
}

/** The result of a run: nothing, unless given. */
export function sampleResult(gives: Partial<RunResult> = {}): RunResult {
  const empty = { approvals: [], console: [], toolsUsed: [], results: {}, layers: [] };
  return { status: 'success', runId: 'run-1', traceId: 'trace-1', ...empty, ...gives };
}
