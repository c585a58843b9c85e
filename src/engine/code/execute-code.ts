import type { PreparedProgram } from '../../core/structure/emit/prepare-program.ts';
import { deriveTrace } from '../../core/tracing/derive-trace.ts';
import type { OpenCall } from '../../core/tracing/recorder.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import { capabilityNode, kindOf } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import { createGrants, type RunGrants } from '../calls/approvals.ts';
import { concealLiterals, levelOfProgram } from '../calls/call-tool.ts';
import { asSeenBy, seenBy } from '../capabilities/capability-registry.ts';
import type { CapabilityCall, CodeRun } from '../gateway.ts';
import { ownershipOf } from '../people/roles.ts';
import type { Approval, CodeError, ConsoleLine, GuestOutcome } from '../ports.ts';
import { pauseRun } from '../runs/paused-runs.ts';
import { ofOneRun, type Run, type RunEnd, startRun } from '../runs/run.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import { checkProgram, previewPolicy } from './check-program.ts';
import { type CodeFailure, codeFailure, PROGRAM_NAME } from './code-failure.ts';
import type { CodeScope } from './code-scope.ts';
import { createFrames, type Frames, guestProgram, openCapability } from './enter-capability.ts';
import { createGuestHost, type DecisionTaken, type Halt } from './guest-host.ts';
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

/** What is known of a program besides its value when it ends. */
interface GuestReport {
  readonly console: readonly ConsoleLine[];
  readonly decisions: readonly DecisionTaken[];
}

const NOTHING_RAN: GuestReport = { console: [], decisions: [] };

/** A run of code under way, and the three ways it ends; each stores the trace before it answers. */
interface OpenCodeRun {
  readonly run: Run;
  /** The capability at the root; null for an agent's own code. */
  readonly root: OpenCall | null;
  readonly grants: RunGrants;
  readonly log: CallLog;
  succeed(value: unknown, report: GuestReport): Promise<CodeRun>;
  fail(failure: CodeFailure, report?: GuestReport): Promise<CodeRun>;
  /** A person has to decide; the run is written down so that it can be taken up again. */
  wait(approval: Approval, report?: GuestReport): Promise<CodeRun>;
}

function openCodeRun(
  { ports, traces, settings, programs }: CodeScope,
  program: Program,
  caller: Caller,
  standing: ResumePoint,
): OpenCodeRun {
  const { source, args, capability } = program;
  const { runId, seed, startedAt } = standing;
  const { sessionId, origin = 'agent' } = caller;
  const head = { runId, sessionId, origin, intent: program.intent ?? null, ...ownershipOf(settings, caller) };
  const prepared = programs.prepare(source);
  const level = prepared.ok ? levelOfProgram(settings, prepared.value.structure) : 'full';
  if (prepared.ok) concealLiterals(ports, settings, prepared.value.structure);
  const run = startRun(ports, traces, head, [args, source]);
  const root = capability ? run.recorder.start(capabilityNode(capability.id), null, args) : null;
  const grants = createGrants(standing.grants);
  const log = createCallLog(ports, standing.calls);

  const end = (how: RunEnd, gave: object, { console, decisions }: GuestReport) =>
    run.finishStored({
      ...how,
      taskResults: [{ id: 'code', status: how.status, ...gave, console }],
      decisions,
      capabilityId: capability?.id ?? null,
      code: level === 'none' ? REDACTED : source,
      guest: { seed, startedAt, args },
    });

  const facts = ({ console }: GuestReport) => ({
    console,
    toolsUsed: deriveTrace(run.recorder.events).toolsUsed.filter((node) => kindOf(node) === 'tool'),
  });

  return {
    run,
    root,
    grants,
    log,
    async succeed(value, report) {
      root?.end({ success: true, result: value });
      const traceId = await end({ status: 'success', success: true }, { result: value }, report);
      return { status: 'success', runId, traceId, result: value, ...facts(report) };
    },
    async fail({ error, errorType }, report = NOTHING_RAN) {
      const type = errorType === null ? {} : { errorType };
      root?.end({ success: false, error: error.message, ...type });
      const how = { status: 'error', success: false, errorMessage: error.message, ...type };
      const traceId = await end(how, { error }, report);
      return { status: 'error', runId, traceId, error, ...facts(report) };
    },
    async wait(approval, report = NOTHING_RAN) {
      const errorMessage = `${approval.node} waits for a person`;
      root?.end({ success: false, error: errorMessage, errorType: 'PERMISSION' });
      // Code that hands something to a call of which no arguments are kept is not kept to be taken up again.
      const isKept = level === 'full' && !run.recorder.isConcealed;
      const body = capability
        ? { capability: capability.slug, arguments: args }
        : { code: source, arguments: args };
      await pauseRun(
        ports,
        head,
        body,
        approval,
        {
          seed,
          startedAt,
          grants: grants.left(),
          calls: log.finished(),
        },
        isKept,
      );
      const how = {
        status: 'approval_required',
        success: false,
        errorMessage,
        errorType: 'PERMISSION',
      } as const;
      const traceId = await end(how, {}, report);
      return { status: 'approval_required', runId, traceId, approval, ...facts(report) };
    },
  };
}

interface GuestRun {
  readonly outcome: GuestOutcome;
  /** Why it was ended from outside, if it was. */
  readonly halt: Halt | null;
  readonly frames: Frames;
  readonly report: GuestReport;
}

/** The program in the sandbox, until it has ended and nothing it started is under way. */
export async function runGuest(
  scope: CodeScope,
  prepared: PreparedProgram,
  program: Program,
  { run, root, grants, log }: Pick<OpenCodeRun, 'run' | 'root' | 'grants' | 'log'>,
  { seed, startedAt }: ResumePoint,
  caller: Caller,
): Promise<GuestRun> {
  const frames = createFrames();
  const lineage = program.capability ? [program.capability] : [];
  frames.add({ path: '', span: root, lineage, name: PROGRAM_NAME, program: prepared });
  // Progress of several calls at once would not be one progress.
  const { onProgress: _, ...unheard } = caller;
  const halting = new AbortController();
  const ended = new AbortController();
  let halt: Halt | null = null;
  const { timeoutMs } = program;
  const host = createGuestHost({
    scope,
    ...(timeoutMs !== undefined && { until: run.startedTs + timeoutMs }),
    run,
    frames,
    log,
    grants,
    caller: { ...unheard, signal: anyOf(caller.signal, ended.signal) },
    onHalt(reason) {
      halt ??= reason;
      halting.abort();
    },
  });
  const { sandbox: limits } = scope.settings;
  const outcome = await scope.ports.sandbox
    .run(guestProgram(prepared, PROGRAM_NAME, program.args, program.deps), host, {
      // Who asks may want less time than is allowed, not more.
      limits: { ...limits, wallMs: Math.min(limits.wallMs, program.timeoutMs ?? limits.wallMs) },
      ...(caller.who && { user: caller.who.user }),
      seed,
      startedAt,
      signal: anyOf(caller.signal, halting.signal),
    })
    .catch(notStarted);
  // A halted run is taken up again: its other calls are let finish, so that they need not be made twice.
  if (halt === null) ended.abort();
  await host.settled();
  return { outcome, halt, frames, report: { console: outcome.console, decisions: host.decisions } };
}

/** No process could be had: the run failed like any other. */
function notStarted(error: unknown): GuestOutcome {
  const message = `The sandbox cannot run it: ${error instanceof Error ? error.message : String(error)}`;
  return { ok: false, error: { kind: 'crashed', message }, console: [], truncated: false, cpuMs: 0 };
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
