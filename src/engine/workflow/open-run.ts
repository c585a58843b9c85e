import { referencedTasks } from '../../core/planning/plan/references.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { REDACTED } from '../../core/tracing/redact.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import { levelOfProgram, recordLevel } from '../calls/call-tool.ts';
import type { CodeScope } from '../code/code-scope.ts';
import { isOwn, ownershipOf } from '../people/roles.ts';
import type { WorkflowRun } from '../ports.ts';

export interface WorkflowRequest {
  readonly plan: Plan;
  readonly intent: string | null;
  /** Given by who may ask twice: a run of this id that is there already is gone on with. */
  readonly runId?: string | undefined;
}

/** The run as it will be kept, redacted. Null when a run of this id and plan is there already. */
export async function openRun(
  { ports, settings, programs }: Pick<CodeScope, 'ports' | 'settings' | 'programs'>,
  { plan, intent, runId }: WorkflowRequest,
  caller: Caller,
): Promise<WorkflowRun | null> {
  const { store, clock, crypto, redact } = ports;
  redact(intent);
  const recorded = recordedPart(plan, settings, programs);
  const kept = keptPlan(plan, redact(recorded) as Plan);
  const there = runId === undefined ? null : await store.runs.get(runId);
  if (there && (!isOwn(caller, there) || canonicalJson(there.plan) !== canonicalJson(kept))) {
    throw new PmlError('store_conflict', `Run ${there.id} is of another workflow`, {
      hint: 'Give it another run_id, or none.',
    });
  }
  if (there) return null;
  const now = clock.now();
  return {
    id: runId ?? crypto.randomUuid(),
    kind: 'workflow',
    sessionId: caller.sessionId,
    origin: caller.origin ?? 'agent',
    ...ownershipOf(settings, caller),
    intentText: intent === null ? null : String(redact(intent)),
    plan: kept,
    status: 'running',
    tasks: {},
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

/** The plan without what goes into calls of which no arguments are kept. */
function recordedPart(plan: Plan, settings: CodeScope['settings'], programs: CodeScope['programs']): Plan {
  const isRecorded = ({ tool, code }: Task) => {
    if (tool !== undefined) return recordLevel(settings, tool) === 'full';
    const prepared = code === undefined ? null : programs.prepare(code);
    return !prepared?.ok || levelOfProgram(settings, prepared.value.structure) === 'full';
  };
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

/** The run with what is known to be secret by now hidden in all that was kept of it before. */
export function resealed(run: WorkflowRun, redact: (value: unknown) => unknown): WorkflowRun {
  const { plan, intentText, tasks } = run;
  const clean = plan && keptPlan(plan, redact(plan) as Plan);
  const notKept = [...new Set([...(plan?.notKept ?? []), ...(clean?.notKept ?? [])])];
  return {
    ...run,
    intentText: intentText === null ? null : String(redact(intentText)),
    plan: clean && notKept.length > 0 ? { ...clean, notKept } : clean,
    tasks: Object.fromEntries(
      Object.entries(tasks).map(([key, state]) => [key, withoutSecrets(state, redact)]),
    ),
  };
}

/** A result that lost something is not whole any more. */
function withoutSecrets(state: unknown, redact: (value: unknown) => unknown): unknown {
  const clean = redact(state) as { readonly is_whole?: boolean };
  const isChanged = canonicalJson(clean) !== canonicalJson(state);
  return clean.is_whole && isChanged ? { ...clean, is_whole: false } : clean;
}

/** The redacted plan, with the tasks that cannot be taken up by another since redaction changed them. */
function keptPlan(plan: Plan, redacted: Plan): Plan {
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
