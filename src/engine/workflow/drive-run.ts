import { layersOf } from '../../core/planning/plan/validate-plan.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import type { Caller } from '../caller.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { onBehalf } from '../people/roles.ts';
import type { RunLease, WorkflowRun } from '../ports.ts';
import { type RunResult, startRun } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import { type ActiveRuns, createSlots } from './active-runs.ts';
import { finishRun } from './finish-run.ts';
import type { DriveRequest, RunDriver, Speculation } from './run-driver.ts';
import { runTask } from './run-task.ts';
import { createSpeculation } from './speculate.ts';
import type { Target } from './targets.ts';
import { isOpen, itemKey, PENDING, storedStates, type TaskState } from './task-state.ts';
import { openLayers } from './tell-workflow.ts';

const DEFAULTS = {
  /** Tasks under way at once. */
  concurrency: 32,
};

/** Runs what can run of a plan: each task as soon as all it depends on is done. */
export async function driveRun(
  scope: RunScope,
  activeRuns: ActiveRuns,
  request: DriveRequest,
  caller: Caller,
): Promise<RunResult> {
  const { ports } = scope;
  const { run, plan, targets, lease } = request;
  const layers = layersOf(plan.tasks);
  const opened = activeRuns.open(run.id);
  const hold = () => holdLease(ports, run.id, lease, () => opened.stop('lost'));
  let held = request.isStored ? hold() : null;
  const kept = storedValues(plan, targets, storedStates(run.tasks));
  const states = new Map(kept.states);
  // A run that is not there yet is written down together with what begins or asks first.
  const save = async (tasks: WorkflowRun['tasks']) => {
    if (held) return await ports.store.runs.saveTasks(run.id, lease.owner, tasks);
    await ports.store.runs.create({ ...run, tasks }, lease);
    held = hold();
  };
  const journal = createJournal(
    save,
    () => ports.sleep(0),
    () => opened.stop('lost'),
  );
  let mayHaveAsked = request.isStored;
  let ahead: Speculation | null = null;
  let isDecided = true;
  // Progress of several calls at once would not be one progress: the tasks' own is told instead.
  const { onProgress, ...unheard } = caller;
  const tell = (key: string, state: TaskState) => {
    states.set(key, state);
    ports.events.emit({ type: 'task_changed', run_id: run.id, task_id: key, status: state.status });
    const over = plan.tasks.filter(({ id }) => !isOpen(states.get(id) ?? PENDING)).length;
    onProgress?.({ progress: over, total: plan.tasks.length });
    ahead?.look();
  };
  // A process that takes up a run did not choose what it calls.
  const behalf = { ...onBehalf(unheard, run), origin: run.origin };
  const driver: RunDriver = {
    scope: asSeenBy(scope, behalf),
    isSingle: run.kind === 'call',
    run: startRun(
      ports,
      scope.traces,
      {
        runId: run.id,
        sessionId: run.sessionId,
        origin: run.origin,
        intent: run.intentText,
        owner: run.owner,
        visibility: run.visibility,
        ...(caller.trace && { traceparent: caller.trace.traceparent }),
      },
      plan,
    ),
    caller: { ...behalf, signal: anyOf(caller.signal, opened.stopped) },
    stopped: opened.stopped,
    slots: createSlots(plan.concurrency ?? DEFAULTS.concurrency),
    states,
    earlier: new Set(states.keys().filter((key) => !isOpen(states.get(key)!))),
    values: kept.values,
    attempts: new Map(),
    begin(key, state) {
      tell(key, state);
      return journal.write(key, state);
    },
    note(key, state, kept = state) {
      tell(key, state);
      journal.note(key, kept);
    },
    onAsk() {
      mayHaveAsked = true;
      // A person sees what the question is about, and it outlives this process.
      if (!held) journal.flush().catch(() => {});
      ahead?.look();
    },
    ahead: () => ahead,
    ...(request.past && { past: request.past }),
  };
  const knownAtStart = ports.found?.size ?? 0;
  try {
    const reachable = openLayers(plan, layers, states, request.goesOn);
    if (scope.settings.workflow.speculation > 0) {
      const { write, note } = journal;
      const memory = activeRuns.speculation;
      const { owner } = run;
      ahead = createSpeculation({
        driver,
        plan,
        targets,
        order: layers.flat(),
        reachable,
        memory,
        owner,
        write,
        note,
      });
    }
    await runTasks(driver, plan, targets, reachable);
    const rest = await journal.rest().catch(() => ({}));
    if (!held) await save(rest).catch(() => opened.stop('lost'));
    const why = opened.why();
    const ended = { ...request, layers, why, rest, mayHaveAsked, knownAtStart };
    const told = await finishRun(driver, ended, caller);
    isDecided = told.status !== 'decision_required';
    return told;
  } finally {
    ahead?.close(!isDecided);
    held?.stop();
    opened.close();
  }
}

/** A promise per task: it waits for those of the tasks before it. */
export async function runTasks(
  driver: RunDriver,
  plan: Plan,
  targets: readonly Target[],
  reachable: ReadonlySet<string>,
): Promise<void> {
  const placeOf = new Map(plan.tasks.map(({ id }, i) => [id, i]));
  const resting = new Map<string, Promise<TaskState>>();
  const rest = (id: string): Promise<TaskState> => {
    const known = resting.get(id);
    if (known) return known;
    const task = plan.tasks[placeOf.get(id)!]!;
    const made = reachable.has(id) ? run(task) : Promise.resolve(driver.states.get(id) ?? PENDING);
    resting.set(id, made);
    return made;
  };
  const run = async (task: Task): Promise<TaskState> => {
    const ends = await Promise.all(task.dependsOn.map(rest));
    const before = new Map(task.dependsOn.map((id, i) => [id, ends[i]!]));
    return await runTask(driver, plan, task, targets[placeOf.get(task.id)!]!, before);
  };
  await Promise.all(plan.tasks.map(({ id }) => rest(id)));
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Renewed three times before it would run out. */
const RENEWALS = 3;

/** Keeps a run ours until told to stop; `onLost` when another has taken it, or it was ended. */
function holdLease(
  { store, sleep, logger }: Pick<FlowPorts, 'store' | 'sleep' | 'logger'>,
  runId: string,
  lease: RunLease,
  onLost: () => void,
): { stop(): void } {
  const stopping = new AbortController();
  const renew = async () => {
    for (;;) {
      await sleep(lease.ttlMs / RENEWALS, stopping.signal);
      try {
        if (await store.runs.renew(runId, lease)) continue;
      } catch (error) {
        // A store that is away for a moment is tried again; writes tell when it was away for too long.
        logger.log('warn', 'A lease cannot be renewed', { run_id: runId, error: String(error) });
        continue;
      }
      if (!stopping.signal.aborted) onLost();
      return;
    }
  };
  // Ends by being stopped.
  renew().catch(() => {});
  return { stop: () => stopping.abort() };
}

/**
 * What finished tasks gave, by what was kept of it. What was not kept whole is asked for again where
 * that does no harm and something still needs it; else it is lost.
 */
function storedValues(
  plan: Plan,
  targets: readonly Target[],
  stored: ReadonlyMap<string, TaskState>,
): { readonly states: ReadonlyMap<string, TaskState>; readonly values: Map<string, unknown> } {
  const states = new Map(stored);
  const values = new Map<string, unknown>();
  for (const [key, state] of stored) {
    if (state.status === 'success' && state.is_whole && state.items === undefined)
      values.set(key, state.result);
  }
  const needed = new Set(
    plan.tasks.filter(({ id }) => isOpen(stored.get(id) ?? PENDING)).flatMap(({ dependsOn }) => dependsOn),
  );
  for (const [i, task] of plan.tasks.entries()) {
    const state = stored.get(task.id);
    if (state?.status !== 'success') continue;
    const keys = Array.from({ length: state.items ?? 0 }, (_, index) => itemKey(task.id, index));
    const parts = state.items === undefined ? [task.id] : keys;
    const lost = parts.filter((key) => !values.has(key));
    if (lost.length === 0) {
      if (state.items !== undefined)
        values.set(
          task.id,
          keys.map((key) => values.get(key)),
        );
    } else if (needed.has(task.id) && isRepeatable(plan, task, targets[i]!)) {
      for (const key of [task.id, ...lost]) states.delete(key);
    }
  }
  return { states, values };
}

function isRepeatable({ notKept }: Plan, { id, idempotent }: Task, target: Target): boolean {
  return !notKept?.includes(id) && (idempotent ?? target.isRepeatable);
}

type States = Readonly<Record<string, unknown>>;

/** Task states on their way into the store, in order; those of one moment go together. */
export interface Journal {
  /** Resolves when it is committed, and everything before it. Rejects when the run is not ours any more. */
  write(key: string, state: unknown): Promise<void>;
  /** Goes with what is written next, or soon by itself: never later than what comes after it. */
  note(key: string, state: unknown): void;
  /** The same for what was noted so far, also when that is nothing. */
  flush(): Promise<void>;
  /** What was noted and is not on its way yet, once all else is committed; the caller commits it. */
  rest(): Promise<States>;
}

export function createJournal(
  save: (tasks: States) => Promise<void>,
  soon: () => Promise<void>,
  onLost: (error: unknown) => void,
): Journal {
  let waiting: Record<string, unknown> = {};
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let isComing = false;

  const take = () => {
    const batch = waiting;
    waiting = {};
    return batch;
  };
  const flush = () => {
    if (next) return next;
    next = last.then(() => {
      next = null;
      return save(take());
    });
    last = next;
    next.catch(onLost);
    return next;
  };
  const flushSoon = async () => {
    isComing = true;
    await soon();
    isComing = false;
    if (Object.keys(waiting).length > 0) flush();
  };

  return {
    write(key, state) {
      waiting[key] = state;
      return flush();
    },
    note(key, state) {
      waiting[key] = state;
      if (!isComing && !next) void flushSoon();
    },
    flush,
    async rest() {
      while (next) await next;
      await last;
      return take();
    },
  };
}
