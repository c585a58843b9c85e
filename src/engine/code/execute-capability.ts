import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { seenBy } from '../capabilities/seen-capabilities.ts';
import type { Caller, CapabilityCall, CodeRun } from '../gateway.ts';
import type { CodeScope } from './code-scope.ts';
import { openCapability } from './enter-capability.ts';
import { executeCode } from './execute-code.ts';
import type { ResumePoint } from './program.ts';

/** A capability as a run of its own, called by an agent or a person. */
export async function executeCapability(
  scope: CodeScope,
  call: CapabilityCall,
  caller: Caller,
  standing?: ResumePoint,
): Promise<CodeRun> {
  const runId = standing?.runId ?? scope.ports.crypto.randomUuid();
  try {
    const capability = seenBy(scope.capabilities, caller).known(call.capability);
    const { args } = openCapability(scope, capability, call.arguments);
    const program = {
      source: capability.code,
      args,
      capability,
      intent: call.intent ?? capability.intentText,
      ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
    };
    return await executeCode(scope, program, caller, standing);
  } catch (error) {
    const problem = PmlError.from(error).toShape();
    return { status: 'error', runId, traceId: null, error: problem, console: [], toolsUsed: [] };
  }
}
