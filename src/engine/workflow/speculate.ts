import { holds } from '../../core/planning/plan/conditions.ts';
import { referencedTasks, resolveReferences } from '../../core/planning/plan/references.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { createRecorder } from '../../core/tracing/recorder.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { recordDecision } from '../calls/approvals.ts';
import { callTool, judge } from '../calls/call-tool.ts';
import type { JsonObject, ToolResult } from '../ports.ts';
import type { RunDriver, Speculation } from './run-driver.ts';
import type { SpeculationMemory } from './speculation-memory.ts';
import type { Target } from './targets.ts';
import { AHEAD, hasFailed, isOpen, itemKey, PENDING } from './task-state.ts';

const DEFAULTS = {
  /** Calls ahead under way at once. */
  atOnce: 4,
};

export interface SpeculationParts {
  readonly driver: RunDriver;
  readonly plan: Plan;
  readonly targets: readonly Target[];
  /** Ids of all tasks, each after those it depends on. */
  readonly order: readonly string[];
  /** Those that may run in this drive. */
  readonly reachable: ReadonlySet<string>;
  readonly memory: SpeculationMemory;
  /** Whose run it is: nobody's calls are guessed by what another's gave. */
  readonly owner: string | null;
  /** Resolves when it is committed. */
  readonly write: (key: string, state: unknown) => Promise<void>;
  readonly note: (key: string, state: unknown) => void;
}

/**
 * Value prediction, as processors do it: a call is made ahead when everything before it that is not over
 * changes nothing, and its arguments are known, or follow from what the same work gave last time. What it
 * gave is used only if the task is then reached with exactly these arguments. Only tools that say of
 * themselves that they only read, and about which nobody has to be asked, are called ahead.
 */
export function createSpeculation(parts: SpeculationParts): Speculation {
  const { driver, plan, targets, order, reachable, memory } = parts;
  const { scope, run, states, values, slots } = driver;
  const { ports, settings } = scope;
  const budget = settings.workflow.speculation;
  const giveUp = new AbortController();
  const calls = memory.takeUp(run.runId, ports.clock.monotonic());
  const begun = new Set(calls.keys());
  const placeOf = new Map(plan.tasks.map(({ id }, i) => [id, i]));
  let underWay = 0;
  let isClosed = false;

  const hashOf = ({ tool, code }: Task, args: unknown, deps: unknown) =>
    ports.crypto.sha256(
      canonicalJson([parts.owner, tool ?? null, code ?? null, args, tool === undefined ? deps : null]),
    );

  const depsOf = ({ dependsOn }: Task, known: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(dependsOn.filter((id) => known.has(id)).map((id) => [id, known.get(id)]));

  /** The calls of a task by what is expected of those before it; throws where that does not tell. */
  function stepsOf(task: Task, expected: ReadonlyMap<string, unknown>) {
    const known = { ...plan.arguments, ...Object.fromEntries(expected) };
    const step = (key: string, more: JsonObject = {}) => {
      const args = resolveReferences(task.arguments, { ...known, ...more }) as JsonObject;
      return { key, args, hash: hashOf(task, args, depsOf(task, expected)) };
    };
    if (task.forEach === undefined) return [step(task.id)];
    const items = resolveReferences(task.forEach, known) as unknown[];
    return items.map((item, index) => step(itemKey(task.id, index), { item, index }));
  }

  /** Its condition is known by now, and does not hold. */
  function isOut({ when }: Task, expected: ReadonlyMap<string, unknown>): boolean {
    const isKnown = referencedTasks(when).every(
      (id) => expected.has(id) || plan.arguments?.[id] !== undefined,
    );
    return (
      when !== undefined && isKnown && !holds(when, { ...plan.arguments, ...Object.fromEntries(expected) })
    );
  }

  const isOver = (id: string) => !isOpen(states.get(id) ?? PENDING);

  /** It would not begin by itself now. */
  const hasToWait = ({ id, dependsOn }: Task) => !reachable.has(id) || !dependsOn.every(isOver);

  function mayBegin(key: string): boolean {
    const state = states.get(key) ?? PENDING;
    return state.status === 'pending' && !state.edited_arguments && !begun.has(key);
  }

  function consider(task: Task, target: Target, expected: Map<string, unknown>): void {
    if (plan.notKept?.includes(task.id) || isOut(task, expected)) return;
    try {
      const steps = stepsOf(task, expected);
      for (const { key, args, hash } of steps) {
        if (target.mayRunAhead && hasToWait(task) && mayBegin(key)) begin(key, task, args, hash);
      }
      const guesses = steps.map(({ hash }) => memory.recall(hash));
      if (guesses.includes(undefined)) return;
      const all = guesses.map((guess) => guess!.value);
      expected.set(task.id, task.forEach === undefined ? all[0] : all);
    } catch {
      // Its arguments cannot be told yet.
    }
  }

  function begin(key: string, task: Task, args: JsonObject, hash: string): void {
    if (begun.size >= budget || underWay >= DEFAULTS.atOnce || !slots.isFree()) return;
    begun.add(key);
    underWay++;
    memory.count('started');
    const startedAt = ports.clock.monotonic();
    const result = callAhead(key, task, args)
      .catch(() => null)
      .finally(() => {
        underWay--;
        look();
      });
    calls.set(key, { hash, result, startedAt });
  }

  async function callAhead(key: string, task: Task, args: JsonObject): Promise<ToolResult | null> {
    const call = {
      tool: task.tool!,
      arguments: args,
      ...(task.timeoutMs !== undefined && { timeoutMs: task.timeoutMs }),
    };
    const at = ports.clock.now().getTime();
    await parts.write(`${AHEAD}${key}`, { status: 'ahead', at });
    await recordDecision(ports, {
      runId: run.runId,
      eventType: 'speculation_start',
      taskId: key,
      data: { tool: task.tool!, arguments: ports.redact(args) },
    });
    const entry = await scope.findTool(call);
    if (judge(settings, entry).action !== 'allow' || giveUp.signal.aborted) return null;
    const { onProgress: _, signal: __, ...caller } = driver.caller;
    const { clock, crypto, redact } = ports;
    const aside = createRecorder({ now: clock.monotonic, newId: crypto.randomUuid, redact });
    const made = await callTool(
      {
        ...scope,
        runId: run.runId,
        // What is not used was no part of the run; what is used is recorded when it is.
        recorder: aside,
        parent: null,
        caller: { ...caller, signal: giveUp.signal },
      },
      entry,
      call,
    );
    return made.kind === 'done' ? (made.toolResult ?? null) : null;
  }

  function look(): void {
    if (begun.size >= budget || isClosed || driver.stopped.aborted) return;
    const expected = new Map<string, unknown>();
    /** Not over, and they or something before them may change what others read. */
    const unsettled = new Set<string>();
    for (const id of order) {
      const task = plan.tasks[placeOf.get(id)!]!;
      const target = targets[placeOf.get(id)!]!;
      if (isOver(id)) {
        if (values.has(id)) expected.set(id, values.get(id));
        continue;
      }
      const isBlocked = task.dependsOn.some(
        (before) => unsettled.has(before) || hasFailed(states.get(before) ?? PENDING),
      );
      if (isBlocked || !target.changesNothing) unsettled.add(id);
      else consider(task, target, expected);
    }
  }

  return {
    look,
    take({ key, task }, args) {
      const ahead = calls.get(key);
      calls.delete(key);
      if (!ahead || ahead.hash !== hashOf(task, args, null)) return null;
      return ahead.result.then((result) => {
        if (!result) return null;
        memory.count('used');
        parts.note(`${AHEAD}${key}`, { status: 'ahead', at: ports.clock.now().getTime(), used: true });
        return result;
      });
    },
    learn({ task, target, deps }, args, value) {
      if (target.changesNothing) memory.remember(hashOf(task, args, deps), value);
    },
    close(goesOn) {
      isClosed = true;
      if (goesOn) memory.keep(run.runId, calls);
      else giveUp.abort();
    },
  };
}
