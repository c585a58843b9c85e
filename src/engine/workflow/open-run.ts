import { referencedTasks } from '../../core/planning/plan/references.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { levelOfProgram, recordLevel } from '../calls/call-tool.ts';
import { begunWith, isOwn, ownershipOf } from '../people/roles.ts';
import type { WorkflowRun } from '../ports.ts';
import type { RunScope } from '../runs/run-scope.ts';

/** The task of a run that is a tool call, a program or a capability. */
export const ONLY_TASK = 'call';

export interface WorkflowRequest {
  readonly plan: Plan;
  readonly intent: string | null;
  /** Given by who may ask twice: a run of this id that is there already is gone on with. */
  readonly runId?: string | undefined;
}

/** A workflow as it will be kept. Null when a run of this id and plan is there already. */
export async function openRun(
  scope: RunScope,
  { plan, intent, runId }: WorkflowRequest,
  caller: Caller,
): Promise<WorkflowRun | null> {
  const { store, crypto } = scope.ports;
  const id = runId ?? crypto.randomUuid();
  const record = runRecord(scope, { kind: 'workflow', runId: id, plan, intent }, caller);
  const there = runId === undefined ? null : await store.runs.get(runId);
  if (there && (!isOwn(caller, there) || canonicalJson(there.plan) !== canonicalJson(record.plan))) {
    throw new PmlError('store_conflict', `Run ${there.id} belongs to another workflow`, {
      hint: 'Give it another run_id, or none.',
    });
  }
  return there ? null : record;
}

interface RecordRequest {
  readonly kind: WorkflowRun['kind'];
  readonly runId: string;
  readonly plan: Plan;
  readonly intent: string | null;
  /** Nothing of what its tasks do is to be kept. */
  readonly hides?: boolean;
}

/** A run as it is kept, redacted. */
export function runRecord(
  { ports, settings, programs, capabilities }: RunScope,
  { kind, runId, plan, intent, hides = false }: RecordRequest,
  caller: Caller,
): WorkflowRun {
  const { clock, redact } = ports;
  redact(intent);
  const isRecorded = ({ tool, code, capability = '' }: Task) => {
    if (hides) return false;
    if (tool !== undefined) return recordLevel(settings, tool) === 'full';
    const prepared = programs.prepare(code ?? capabilities.known(capability).code);
    return !prepared.ok || levelOfProgram(settings, prepared.value.structure) === 'full';
  };
  const now = clock.now();
  return {
    id: runId,
    kind,
    sessionId: caller.sessionId,
    origin: caller.origin ?? 'agent',
    ...ownershipOf(settings, caller),
    ...begunWith(caller),
    intentText: intent === null ? null : String(redact(intent)),
    plan: keptPlan(plan, redact(recordedPart(plan, isRecorded)) as Plan),
    status: 'running',
    tasks: {},
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

/** The plan without what goes into calls of which no arguments are kept. */
function recordedPart(plan: Plan, isRecorded: (task: Task) => boolean): Plan {
  const hidden = plan.tasks.filter((task) => !isRecorded(task));
  if (hidden.length === 0) return plan;
  const inputs = new Set(
    hidden.flatMap((task) => referencedTasks([task.arguments, task.when, task.forEach])),
  );
  const given = Object.entries(plan.arguments ?? {}).filter(([name]) => !inputs.has(name));
  const tasks = plan.tasks.map((task) => {
    if (!hidden.includes(task)) return task;
    const { when: _, forEach: __, ...rest } = task;
    return { ...rest, ...(task.code !== undefined && { code: REDACTED }), arguments: {} } as Task;
  });
  return { ...plan, tasks, ...(plan.arguments && { arguments: Object.fromEntries(given) }) };
}

/** The redacted plan, with the tasks that cannot be taken up by another since redaction changed them. */
export function keptPlan(plan: Plan, redacted: Plan): Plan {
  const { arguments: given = {} } = plan;
  const lostInputs = Object.keys(given).filter(
    (name) => canonicalJson(given[name]) !== canonicalJson(redacted.arguments?.[name]),
  );
  const isKept = (task: Task, i: number) =>
    canonicalJson(task) === canonicalJson(redacted.tasks[i]) &&
    !referencedTasks([task.arguments, task.when, task.forEach]).some((name) => lostInputs.includes(name));
  const notKept = plan.tasks.filter((task, i) => !isKept(task, i)).map(({ id }) => id);
  return notKept.length === 0 ? redacted : { ...redacted, notKept };
}
