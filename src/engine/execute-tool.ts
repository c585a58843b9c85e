import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { type CallOutcome, callTool } from './call-tool.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { Caller, ToolCall, ToolRun } from './gateway.ts';
import { pauseRun } from './paused-runs.ts';
import { ownershipOf } from './people/ownership.ts';
import type { Settings } from './ports.ts';
import { startRun } from './run.ts';
import type { TraceQueue } from './trace-queue.ts';

export interface ExecuteScope {
  readonly ports: FlowPorts;
  readonly desk: ApprovalDesk;
  readonly traces: TraceQueue;
  readonly settings: Settings;
  /** Finds the tool, listing its server first if need be; throws when there is none. */
  readonly findTool: (call: ToolCall) => Promise<CatalogueEntry>;
}

/** One tool call as a run of its own: found, called, traced, answered. */
export async function executeTool(
  scope: ExecuteScope,
  call: ToolCall,
  caller: Caller,
  runId = scope.ports.crypto.randomUuid(),
): Promise<ToolRun> {
  const { ports, traces } = scope;
  let entry: CatalogueEntry;
  try {
    entry = await scope.findTool(call);
  } catch (error) {
    return { status: 'error', runId, traceId: null, error: PmlError.from(error).toShape() };
  }
  const owned = ownershipOf(scope.settings, caller);
  const head = { runId, sessionId: caller.sessionId, intent: call.intent ?? null, ...owned };
  const run = startRun(ports, traces, head);
  const callScope = { ...scope, runId, recorder: run.recorder, parent: null, caller };
  const outcome = await callTool(callScope, entry, call);
  if (outcome.kind === 'waiting') {
    await pauseRun(ports, head, { tool: entry.tool.id, arguments: call.arguments }, outcome.approval);
  }
  return toToolRun(run.finish(endOf(outcome)), runId, outcome);
}

function endOf(outcome: CallOutcome): { status: string; success: boolean; errorMessage?: string } {
  switch (outcome.kind) {
    case 'ran':
      return outcome.result.isError === true
        ? { status: 'error', success: false, errorMessage: 'The tool reported an error' }
        : { status: 'success', success: true };
    case 'waiting':
      return { status: 'approval_required', success: false };
    default:
      return { status: 'error', success: false, errorMessage: outcome.error.message };
  }
}

function toToolRun(traceId: string | null, runId: string, outcome: CallOutcome): ToolRun {
  switch (outcome.kind) {
    case 'ran': {
      const status = outcome.result.isError === true ? 'error' : 'success';
      return { status, runId, traceId, result: outcome.result };
    }
    case 'waiting':
      return { status: 'approval_required', runId, traceId, approval: outcome.approval };
    default:
      return { status: 'error', runId, traceId, error: outcome.error };
  }
}
