import { capabilityNode, type NodeId } from '../../core/vocabulary/ids.ts';
import type { TaskBody } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { workHash } from '../calls/ask-person.ts';
import { type Attempt, callTool, concealLiterals } from '../calls/call-tool.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { attemptProgram, type TaskAttempt, waitsFor } from '../code/attempt-program.ts';
import type { CallLog } from '../code/call-log.ts';
import { openCapability } from '../code/enter-capability.ts';
import type { Program, ResumePoint } from '../code/program.ts';
import { ownershipOf } from '../people/roles.ts';
import type { JsonObject } from '../ports.ts';
import { ONLY_TASK, runRecord } from '../workflow/open-run.ts';
import { type FinishedRun, ofOneRun, type Run, type RunEnd, type RunResult, startRun } from './run.ts';
import type { RunScope } from './run-scope.ts';
import type { RunService } from './run-service.ts';

type SingleRuns = Pick<RunService, 'executeTool' | 'executeCode' | 'executeCapability'>;

/**
 * Runs of a plan of one task: a tool call, a program, a capability. Nothing of them is written down but their trace,
 * unless they have to wait: from then on they are driven like any other plan.
 */
export function createSingleRuns(scopeNow: () => RunScope): SingleRuns {
  return {
    async executeTool(call, caller) {
      const scope = ofOneRun(asSeenBy(scopeNow(), caller));
      let entry: CatalogueEntry;
      try {
        entry = await scope.findTool(call);
      } catch (error) {
        return notBegun(scope, error);
      }
      const run = begin(scope, call.intent, caller, call.arguments);
      const { runId, recorder } = run;
      const todo = { tool: entry.tool.id, arguments: call.arguments };
      const work = () => workHash(scope.ports, todo);
      const made = await callTool({ ...scope, runId, recorder, parent: null, caller, work }, entry, call);
      return await end(scope, run, todo, made, caller);
    },

    async executeCode({ code, arguments: args = {}, intent, timeoutMs }, caller) {
      const program = { source: code, args, ...(timeoutMs !== undefined && { timeoutMs }) };
      return await execute(scopeNow(), program, intent, { code, arguments: args }, caller);
    },

    async executeCapability({ capability: slug, arguments: given, intent, timeoutMs }, caller) {
      const scope = scopeNow();
      let program: Program;
      try {
        const capability = asSeenBy(scope, caller).capabilities.known(slug);
        const { args } = openCapability(scope, capability, given);
        const timeout = timeoutMs === undefined ? {} : { timeoutMs };
        program = { source: capability.code, args, capability, ...timeout };
      } catch (error) {
        return notBegun(scope, error);
      }
      const { args, capability } = program;
      const work = { capability: capability!.slug, arguments: args };
      return await execute(scope, program, intent ?? capability!.intentText, work, caller);
    },
  };
}

/** What the run is to do; exactly one of tool, code and capability. */
type Work = TaskBody & { readonly arguments: JsonObject };

/** What a program that begins has behind it already. */
export interface Past {
  readonly node: NodeId | null;
  readonly standing: ResumePoint;
  logFor(scope: RunScope): CallLog;
  /** Sees what the run records. */
  follow(run: Run): Run;
}

export async function execute(
  whole: RunScope,
  program: Program,
  intent: string | undefined,
  work: Work,
  caller: Caller,
  past?: Past,
): Promise<RunResult> {
  const scope = ofOneRun(asSeenBy(whole, caller));
  const prepared = scope.programs.prepare(program.source);
  if (prepared.ok) concealLiterals(scope.ports, scope.settings, prepared.value.structure);
  const begun = begin(scope, intent, caller, [program.args, program.source]);
  const node = program.capability ? capabilityNode(program.capability.id) : null;
  const options = {
    node,
    work: () => workHash(scope.ports, work),
    ...(past && { node: past.node, standing: past.standing, log: past.logFor(scope) }),
  };
  const run = past ? past.follow(begun) : begun;
  const made = await attemptProgram({ scope, run, caller }, program, options);
  return await end(scope, run, work, made, caller);
}

function begin(scope: RunScope, intent: string | undefined, caller: Caller, given: unknown): Run {
  const { ports, traces, settings } = scope;
  const { sessionId, origin = 'agent', trace } = caller;
  const runId = ports.crypto.randomUuid();
  const owned = { ...ownershipOf(settings, caller), ...(trace && { traceparent: trace.traceparent }) };
  const head = { runId, sessionId, origin, intent: intent ?? null, ...owned };
  return startRun(ports, traces, head, given);
}

async function end(
  scope: RunScope,
  run: Run,
  work: Work,
  made: TaskAttempt,
  caller: Caller,
): Promise<RunResult> {
  // The same is waiting already: that run goes on once a person has decided, and this one leaves nothing behind.
  const runId = made.kind === 'waiting' ? made.approval.runId : run.runId;
  if (made.kind === 'waiting' && runId === run.runId) await pause(scope, run, work, made, caller);
  const finished = await run.finish(endOf(made));
  return { ...resultOf(runId, made, finished), results: {}, layers: [] };
}

/** Writes down what waits for a person; nothing of it stays in memory. All of it is kept redacted. */
async function pause(
  scope: RunScope,
  { runId, intent, recorder }: Run,
  work: Work,
  { approval, standing }: Extract<Attempt, { kind: 'waiting' }>,
  caller: Caller,
): Promise<void> {
  const task = { ...work, id: ONLY_TASK, dependsOn: [] };
  const record = runRecord(
    scope,
    {
      kind: 'call',
      runId,
      plan: { tasks: [task], inputs: [] },
      intent,
      // Code that has seen what is not to be kept may hold it.
      hides: recorder.isConcealed,
    },
    caller,
  );
  const state = { status: 'waiting', approval_id: approval.id, ...(standing && { standing }) };
  await scope.ports.store.runs.create({ ...record, status: 'paused', tasks: { [ONLY_TASK]: state } });
}

function notBegun({ ports }: RunScope, error: unknown): RunResult {
  const runId = ports.crypto.randomUuid();
  const failed = { kind: 'failed', error: PmlError.from(error).toShape(), errorType: null } as const;
  return { ...resultOf(runId, failed, { traceId: null, toolsUsed: [] }), results: {}, layers: [] };
}

/** How the run of a single task ended, as its trace is to know it. */
export function endOf(made: TaskAttempt): RunEnd {
  const { program } = made;
  const { console, span: _, ...kept } = program ?? {};
  const told = program && {
    ...kept,
    taskResults: [{ id: 'code', status: statusOf(made), ...gaveOf(made), console }],
  };
  return {
    ...told,
    status: statusOf(made),
    success: made.kind === 'done',
    ...(made.kind === 'failed' && {
      // A tool's own words are in its event, if they are to be kept.
      errorMessage: made.toolResult ? 'The tool reported an error' : made.error.message,
      ...(made.errorType !== null && { errorType: made.errorType }),
    }),
    // Kept from its end by a person who has to decide: it has not failed.
    ...(made.kind === 'waiting' && {
      errorMessage: waitsFor(made.approval),
      errorType: 'PERMISSION' as const,
    }),
  };
}

/** The same as its caller is to know it. */
export function resultOf(
  runId: string,
  made: TaskAttempt,
  { traceId, toolsUsed }: FinishedRun,
): Omit<RunResult, 'results' | 'layers'> {
  const toolResult = made.kind === 'waiting' ? undefined : made.toolResult;
  return {
    status: statusOf(made),
    runId,
    traceId,
    ...gaveOf(made),
    ...(toolResult && { toolResult }),
    ...(made.kind === 'done' && made.media && { media: made.media }),
    approvals: made.kind === 'waiting' ? [made.approval] : [],
    console: made.program?.console ?? [],
    toolsUsed,
  };
}

function gaveOf(made: TaskAttempt) {
  if (made.kind === 'waiting') return {};
  return made.kind === 'done' ? { result: made.value } : { error: made.error };
}

function statusOf({ kind }: Attempt): 'success' | 'error' | 'approval_required' {
  return kind === 'done' ? 'success' : kind === 'failed' ? 'error' : 'approval_required';
}
