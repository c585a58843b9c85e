import { deriveTrace } from '../../core/tracing/derive-trace.ts';
import type { OpenCall } from '../../core/tracing/recorder.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import { capabilityNode, kindOf } from '../../core/vocabulary/ids.ts';
import { concealLiterals, levelOfProgram } from '../calls/record-level.ts';
import type { Caller, CodeRun } from '../gateway.ts';
import { ownershipOf } from '../people/ownership.ts';
import type { Approval, ConsoleLine } from '../ports.ts';
import { pauseRun } from '../runs/paused-runs.ts';
import { type Run, type RunEnd, startRun } from '../runs/run.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import type { CodeFailure } from './code-failure.ts';
import type { CodeScope } from './code-scope.ts';
import { createGrants, type RunGrants } from './grants.ts';
import type { DecisionTaken } from './guest-host.ts';
import type { Program, ResumePoint } from './program.ts';

/** What is known of a program besides its value when it ends. */
export interface GuestReport {
  readonly console: readonly ConsoleLine[];
  readonly decisions: readonly DecisionTaken[];
}

const NOTHING_RAN: GuestReport = { console: [], decisions: [] };

/** A run of code under way, and the three ways it ends; each stores the trace before it answers. */
export interface OpenCodeRun {
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

export function openCodeRun(
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
