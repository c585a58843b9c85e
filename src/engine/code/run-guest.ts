import type { PreparedProgram } from '../../core/structure/emit/prepare-program.ts';
import type { Caller } from '../gateway.ts';
import type { GuestOutcome } from '../ports.ts';
import { PROGRAM_NAME } from './code-failure.ts';
import type { GuestReport, OpenCodeRun } from './code-run.ts';
import type { CodeScope } from './code-scope.ts';
import { guestProgram } from './enter-capability.ts';
import { createFrames, type Frames } from './frames.ts';
import { createGuestHost, type Halt } from './guest-host.ts';
import type { Program, ResumePoint } from './program.ts';

export interface GuestRun {
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
