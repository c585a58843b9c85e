import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { ToolCall, ToolRun } from '../gateway.ts';
import { ownershipOf } from '../people/roles.ts';
import type { Settings } from '../ports.ts';
import { pauseRun } from '../runs/paused-runs.ts';
import { ofOneRun, startRun } from '../runs/run.ts';
import type { TraceQueue } from '../traces/trace-queue.ts';
import type { Approvals } from './approvals.ts';
import { type CallOutcome, callTool, recordLevel } from './call-tool.ts';

export interface ExecuteScope {
  readonly ports: FlowPorts;
  readonly approvals: Approvals;
  readonly traces: TraceQueue;
  readonly settings: Settings;
  /** Finds the tool, listing its server first if need be; throws when there is none. */
  readonly findTool: (call: ToolCall) => Promise<CatalogueEntry>;
}

/** One tool call as a run of its own: found, called, traced, answered. */
export async function executeTool(
  whole: ExecuteScope,
  call: ToolCall,
  caller: Caller,
  runId = whole.ports.crypto.randomUuid(),
): Promise<ToolRun> {
  const scope = ofOneRun(whole);
  const { ports, traces } = scope;
  let entry: CatalogueEntry;
  try {
    entry = await scope.findTool(call);
  } catch (error) {
    return { status: 'error', runId, traceId: null, error: PmlError.from(error).toShape() };
  }
  const owned = ownershipOf(scope.settings, caller);
  const { sessionId, origin = 'agent' } = caller;
  const head = { runId, sessionId, origin, intent: call.intent ?? null, ...owned };
  const run = startRun(ports, traces, head, call.arguments);
  const callScope = { ...scope, runId, recorder: run.recorder, parent: null, caller };
  const outcome = await callTool(callScope, entry, call);
  if (outcome.kind === 'waiting') {
    const isKept = recordLevel(scope.settings, entry.tool.id) === 'full';
    const work = { tool: entry.tool.id, arguments: call.arguments };
    await pauseRun(ports, head, work, outcome.approval, undefined, isKept);
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
