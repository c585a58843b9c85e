import { layersOf } from '../core/planning/layers.ts';
import { referencedTasks, resolveReferences } from '../core/planning/references.ts';
import type { ToolId } from '../core/vocabulary/ids.ts';
import type { Plan, Task } from '../core/vocabulary/plan.ts';
import { type ErrorShape, PmlError } from '../core/vocabulary/pml-error.ts';
import { type CallOutcome, callTool } from './call-tool.ts';
import type { ExecuteScope } from './execute-tool.ts';
import type { Caller, WorkflowResult } from './gateway.ts';
import type { Approval, JsonObject } from './ports.ts';
import { startRun } from './run.ts';
import { toolText, toolValue } from './tool-value.ts';

type TaskState =
  | { readonly status: 'success'; readonly result: unknown }
  | { readonly status: 'error'; readonly error: ErrorShape }
  | { readonly status: 'waiting'; readonly approval: Approval }
  | { readonly status: 'skipped'; readonly because: string };

/** Validates the whole plan, then runs its layers; a task that failed skips only those that need it. */
export async function executeWorkflow(
  scope: ExecuteScope,
  plan: Plan,
  intent: string | null,
  caller: Caller,
): Promise<WorkflowResult> {
  const runId = scope.ports.crypto.randomUuid();
  const tasks = plan.tasks.map(withReferencedDependencies);
  validate(tasks);
  const layers = layersOf(tasks);
  const run = startRun(scope.ports, scope.traces, { runId, sessionId: caller.sessionId, intent });
  const states = new Map<string, TaskState>();
  /** As they are spelled everywhere else. */
  const tools = new Map<string, ToolId>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const layer of layers) {
    const outcomes = await Promise.all(
      layer.map(async (id) => {
        const task = byId.get(id)!;
        const blocker = task.dependsOn.find((before) => states.get(before)?.status !== 'success');
        if (blocker !== undefined)
          return [id, { status: 'skipped', because: `${blocker} gave no result` }] as const;
        return [id, await runTask(task)] as const;
      }),
    );
    for (const [id, state] of outcomes) states.set(id, state as TaskState);
  }

  async function runTask(task: Task): Promise<TaskState> {
    try {
      const values = Object.fromEntries(
        [...states].flatMap(([id, state]) => (state.status === 'success' ? [[id, state.result]] : [])),
      );
      const call = {
        tool: task.tool ?? '',
        arguments: resolveReferences(task.arguments, values) as JsonObject,
      };
      const entry = await scope.findTool(call);
      tools.set(task.id, entry.tool.id);
      const callScope = { ...scope, runId, recorder: run.recorder, parent: null, caller };
      return stateOf(await callTool(callScope, entry, call));
    } catch (error) {
      return { status: 'error', error: PmlError.from(error).toShape() };
    }
  }

  const status = overall([...states.values()]);
  const results = Object.fromEntries(states);
  run.finish({
    status,
    success: status === 'success',
    taskResults: [...states].map(([id, state]) => {
      const { dependsOn } = byId.get(id)!;
      return { id, tool: tools.get(id), depends_on: dependsOn, ...state };
    }),
  });
  const approvals = [...states.values()].flatMap((state) =>
    state.status === 'waiting' ? [state.approval] : [],
  );
  return { status, runId, results, layers, approvals };
}

/** A task that uses another's result depends on it, said or not. */
function withReferencedDependencies(task: Task): Task {
  return { ...task, dependsOn: [...new Set([...task.dependsOn, ...referencedTasks(task.arguments)])] };
}

function validate(tasks: readonly Task[]): void {
  const ids = new Set(tasks.map((task) => task.id));
  const problems = tasks.flatMap((task) => [
    ...task.dependsOn
      .filter((id) => !ids.has(id))
      .map((id) => `${task.id} depends on "${id}", which is no task`),
    ...(task.tool === undefined ? [`${task.id} is no tool: run code and capabilities with pml_execute`] : []),
  ]);
  if (ids.size < tasks.length) problems.push('two tasks have the same id');
  if (tasks.length === 0) problems.push('there are no tasks');
  if (problems.length > 0) {
    throw new PmlError('invalid_argument', `The workflow cannot run: ${problems.join('; ')}`, {
      hint: 'Each task is {id, tool, arguments, depends_on}.',
    });
  }
}

function stateOf(outcome: CallOutcome): TaskState {
  switch (outcome.kind) {
    case 'ran':
      return outcome.result.isError === true
        ? { status: 'error', error: { code: 'tool_failed', message: toolText(outcome.result) } }
        : { status: 'success', result: toolValue(outcome.result) };
    case 'waiting':
      return { status: 'waiting', approval: outcome.approval };
    default:
      return { status: 'error', error: outcome.error };
  }
}

function overall(states: readonly TaskState[]): 'success' | 'error' | 'approval_required' {
  if (states.some((state) => state.status === 'waiting')) return 'approval_required';
  return states.every((state) => state.status === 'success') ? 'success' : 'error';
}
