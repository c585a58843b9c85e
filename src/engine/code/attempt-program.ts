import type { PreparedProgram } from '../../core/structure/emit/prepare-program.ts';
import type { OpenCall } from '../../core/tracing/recorder.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import type { GuestAnswers, GuestConditions, GuestResults } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId } from '../../core/vocabulary/ids.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import { createGrants, type RunGrants } from '../calls/approvals.ts';
import { type Attempt, levelOfProgram } from '../calls/call-tool.ts';
import type { Approval, CodeError, ConsoleLine, GuestFailure, GuestOutcome, JsonObject } from '../ports.ts';
import type { Run } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import { checkProgram } from './check-program.ts';
import { type CodeFailure, codeFailure, PROGRAM_NAME } from './code-failure.ts';
import { createFrames, type Frames, guestProgram } from './enter-capability.ts';
import { createGuestHost, type DecisionTaken, type Halt } from './guest-host.ts';
import { previewPolicy } from './preview-policy.ts';
import type { Program, ResumePoint } from './program.ts';

const NO_CODE: CodeError = {
  code: 'invalid_argument',
  message: 'No code to run',
  hint: 'For example: return await mcp.filesystem.list_directory({ path: "." });',
};

/** What is stored about a program besides its calls. */
export interface ProgramRecord {
  readonly code: string;
  readonly guest: GuestConditions;
  /** Of its own span; null where its calls are at the root of the trace, or it did not begin. */
  readonly span: string | null;
  readonly capabilityId: string | null;
  readonly console: readonly ConsoleLine[];
  readonly decisions: readonly DecisionTaken[];
}

/** How a task ended; for a program, with what is stored about it. */
export type TaskAttempt = Attempt & { readonly program?: ProgramRecord };
type ProgramAttempt = Attempt & { readonly program: ProgramRecord };

interface ProgramOptions {
  /** Its span, above those of its calls; null: they are at the root of the trace. */
  readonly node: NodeId | null;
  /** Names what the whole run does, of a single run. */
  readonly work?: () => string;
  /** Hashes of calls a person has allowed. */
  readonly grants?: readonly string[];
  /** Absent: it begins. */
  readonly standing?: ResumePoint | undefined;
  /** Instead of what it was told by the time it was paused. What it answers is not asked about before it runs. */
  readonly log?: CallLog;
  /** Of a step of a plan: writes down that it begins; nothing has an effect before. */
  readonly begin?: () => Promise<void>;
}

const GO = { kind: 'go' } as const;

/** One attempt at a program: structure, checks, policy preview, sandbox. */
export async function attemptProgram(
  { scope, run, caller }: { readonly scope: RunScope; readonly run: Run; readonly caller: Caller },
  program: Program,
  options: ProgramOptions,
): Promise<ProgramAttempt> {
  const { ports, settings } = scope;
  const { seed, startedAt, ...before } = options.standing ?? startingPoint(ports);
  const grants = createGrants([...before.grants, ...(options.grants ?? [])]);
  const log = options.log ?? createCallLog(ports, before.calls);
  const start = () => options.node && run.recorder.start(options.node, null, program.args);
  // What is refused at once is a failure of a run of its own; a step of a plan has not begun then.
  let root = options.begin ? null : start();
  const prepared = scope.programs.prepare(program.source);
  const isHidden = prepared.ok && levelOfProgram(settings, prepared.value.structure) === 'none';

  const recorded = ({ console, decisions, answers, results }: GuestReport = NOTHING_RAN) => ({
    program: {
      code: isHidden ? REDACTED : program.source,
      guest: {
        ...{ seed, startedAt, args: program.args },
        ...(hasAny(answers) && { answers }),
        ...(hasAny(results) && { results }),
      },
      span: root?.traceId ?? null,
      capabilityId: program.capability?.id ?? null,
      console,
      decisions,
    },
  });
  const failed = ({ error, errorType }: CodeFailure, report?: GuestReport): ProgramAttempt => {
    root?.end({ success: false, error: error.message, ...(errorType !== null && { errorType }) });
    return { kind: 'failed', error, errorType, ...recorded(report) };
  };
  const waits = (approval: Approval, report?: GuestReport): ProgramAttempt => {
    root?.end({ success: false, error: waitsFor(approval), errorType: 'PERMISSION' });
    const standing = { seed, startedAt, grants: grants.left(), calls: log.finished() };
    return { kind: 'waiting', approval, standing, ...recorded(report) };
  };

  if (!prepared.ok) return failed({ error: placed(prepared), errorType: 'VALIDATION' });
  if (prepared.value.isEmpty) return failed({ error: NO_CODE, errorType: 'VALIDATION' });
  const { structure } = prepared.value;
  const problem = await checkProgram(scope, structure);
  if (problem) return failed({ error: problem, errorType: typeOf(problem) });

  const { runId } = run;
  const { work } = options;
  const previewed = { runId, grants, timeoutMs: program.timeoutMs, work };
  const preview = options.log ? GO : await previewPolicy(scope, structure, previewed, caller);
  if (preview.kind === 'refused') return failed({ error: preview.error, errorType: 'PERMISSION' });
  if (preview.kind === 'waiting') return waits(preview.approval);

  if (options.begin) {
    await options.begin();
    root = start();
  }
  const open = { run, root, grants, log, seed, startedAt, work };
  const { outcome, halt, frames, report } = await runGuest(scope, prepared.value, program, open, caller);
  if (halt?.kind === 'waiting') return waits(halt.approval, report);
  if (halt) return failed({ error: halt.error.toShape(), errorType: 'VALIDATION' }, report);
  if (!outcome.ok) {
    const error = ofTimeout(outcome.error, program, settings.sandbox.wallMs);
    return failed(codeFailure(error, frames.locate), report);
  }
  root?.end({ success: true, result: outcome.value });
  const { media } = report;
  return { kind: 'done', value: outcome.value, ...(media.length > 0 && { media }), ...recorded(report) };
}

/** A caller that set a shorter timeout than configured must raise its own timeout, not the configuration. */
function ofTimeout(failure: GuestFailure, { timeoutMs }: Program, wallMs: number): GuestFailure {
  const isWall = failure.kind === 'limit' && failure.limit === 'wall';
  if (!isWall || timeoutMs === undefined || timeoutMs >= wallMs) return failure;
  const most = wallMs.toLocaleString('en');
  const message = `The program took longer than ${timeoutMs.toLocaleString('en')} ms, the timeout_ms of this call; at most ${most} are allowed`;
  return { ...failure, message };
}

export function waitsFor({ node }: Approval): string {
  return `${node} waits for a person`;
}

function startingPoint({ crypto, clock }: RunScope['ports']): ResumePoint {
  return { seed: crypto.randomUuid(), startedAt: clock.now().getTime(), grants: [], calls: [] };
}

function placed({ error, at }: { error: CodeError; at: { line: number; column: number } }): CodeError {
  return { ...error, ...at, message: `${error.message} (line ${at.line}, column ${at.column})` };
}

function typeOf({ code }: CodeError): ErrorType {
  return code === 'not_found' ? 'NOT_FOUND' : 'VALIDATION';
}

/** What is known about a program, besides its value, when it ends. */
interface GuestReport {
  readonly console: readonly ConsoleLine[];
  readonly decisions: readonly DecisionTaken[];
  readonly media: readonly JsonObject[];
  readonly answers: GuestAnswers;
  readonly results: GuestResults;
}

const NOTHING_RAN: GuestReport = { console: [], decisions: [], media: [], answers: {}, results: {} };

function hasAny(of: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(of).length > 0;
}

/** A program about to run. */
interface OpenProgram {
  readonly run: Run;
  readonly root: OpenCall | null;
  readonly grants: RunGrants;
  readonly log: CallLog;
  readonly seed: string;
  readonly startedAt: number;
  readonly work: (() => string) | undefined;
}

interface GuestRun {
  readonly outcome: GuestOutcome;
  /** Why it was ended from outside, if it was. */
  readonly halt: Halt | null;
  readonly frames: Frames;
  readonly report: GuestReport;
}

/** The program in the sandbox, until it and everything it started have ended. */
async function runGuest(
  scope: RunScope,
  prepared: PreparedProgram,
  program: Program,
  { run, root, grants, log, seed, startedAt, work }: OpenProgram,
  caller: Caller,
): Promise<GuestRun> {
  const frames = createFrames();
  const lineage = program.capability ? [program.capability] : [];
  frames.add({ path: '', span: root, lineage, name: PROGRAM_NAME, program: prepared });
  // Progress of several calls at once would not be one progress: the program's own is its calls.
  const { onProgress, ...unheard } = caller;
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
    startedAt,
    grants,
    ...(work && { work }),
    caller: { ...unheard, signal: anyOf(caller.signal, ended.signal) },
    ...(onProgress && { onProgress }),
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
  const { decisions } = host;
  const known = { media: host.media(), answers: host.answers(), results: host.results() };
  const report = { console: outcome.console, decisions, ...known };
  return { outcome, halt, frames, report };
}

/** No process was available: the run failed like any other. */
function notStarted(error: unknown): GuestOutcome {
  const message = `The sandbox cannot run it: ${error instanceof Error ? error.message : String(error)}`;
  return { ok: false, error: { kind: 'crashed', message }, console: [], truncated: false, cpuMs: 0 };
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
