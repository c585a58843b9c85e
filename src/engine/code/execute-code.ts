import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import { asSeenBy, seenBy } from '../capabilities/capability-registry.ts';
import { ofOneRun } from '../flow-ports.ts';
import type { CapabilityCall, CodeRun } from '../gateway.ts';
import type { CodeError } from '../ports.ts';
import { checkProgram, previewPolicy } from './check-program.ts';
import { codeFailure } from './code-failure.ts';
import { openCodeRun, runGuest } from './code-run.ts';
import type { CodeScope } from './code-scope.ts';
import { openCapability } from './enter-capability.ts';
import type { Program, ResumePoint } from './program.ts';

const NO_CODE: CodeError = {
  code: 'invalid_argument',
  message: 'No code to run',
  hint: 'For example: return await mcp.filesystem.list_directory({ path: "." });',
};

/** Structure, checks, policy preview, sandbox; then the trace is stored and the run answered. */
export async function executeCode(
  whole: CodeScope,
  program: Program,
  caller: Caller,
  standing: ResumePoint = startingPoint(whole),
): Promise<CodeRun> {
  const scope = ofOneRun(asSeenBy(whole, caller));
  const open = openCodeRun(scope, program, caller, standing);
  const prepared = scope.programs.prepare(program.source);
  if (!prepared.ok) return await open.fail({ error: placed(prepared), errorType: 'VALIDATION' });
  if (prepared.value.isEmpty) return await open.fail({ error: NO_CODE, errorType: 'VALIDATION' });
  const { structure } = prepared.value;

  const problem = await checkProgram(scope, structure);
  if (problem) return await open.fail({ error: problem, errorType: typeOf(problem) });

  const { runId } = standing;
  const preview = await previewPolicy(
    scope,
    structure,
    { runId, grants: open.grants, timeoutMs: program.timeoutMs },
    caller,
  );
  if (preview.kind === 'refused') return await open.fail({ error: preview.error, errorType: 'PERMISSION' });
  if (preview.kind === 'waiting') return await open.wait(preview.approval);

  const guest = await runGuest(scope, prepared.value, program, open, standing, caller);
  const { outcome, halt, report } = guest;
  if (halt?.kind === 'waiting') return await open.wait(halt.approval, report);
  if (halt) return await open.fail({ error: halt.error.toShape(), errorType: 'VALIDATION' }, report);
  if (!outcome.ok) return await open.fail(codeFailure(outcome.error, guest.frames.locate), report);
  return await open.succeed(outcome.value, report);
}

function startingPoint({ ports: { crypto, clock } }: CodeScope): ResumePoint {
  const startedAt = clock.now().getTime();
  return { runId: crypto.randomUuid(), seed: crypto.randomUuid(), startedAt, grants: [], calls: [] };
}

function placed({ error, at }: { error: CodeError; at: { line: number; column: number } }): CodeError {
  return { ...error, ...at, message: `${error.message} (line ${at.line}, column ${at.column})` };
}

function typeOf({ code }: CodeError): ErrorType {
  return code === 'not_found' ? 'NOT_FOUND' : 'VALIDATION';
}

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
