import { setTimeout } from 'node:timers/promises';
import { printable } from '../../core/vocabulary/text.ts';
import type { OperationClient } from '../../operations/operation-client.ts';
import type { Terminal } from './command.ts';
import type { Plan, Run } from './tell-run.ts';

type Task = Plan['tasks'][number];
type TaskStates = Run['tasks'];
type TaskState = TaskStates[string];

const MARKS: Readonly<Record<string, string>> = {
  pending: '·',
  running: '▸',
  waiting: '?',
  unknown: '?',
  success: '✓',
  error: '✗',
  skipped: '–',
};

const DEFAULTS = {
  /** Milliseconds between two reads of the run. */
  everyMs: 150,
  /** Characters of an error or reason to show. */
  said: 80,
};

const UP_AND_CLEAR = (lines: number) => `\u001b[${lines}A\u001b[J`;

/**
 * Shows the progress of a run during `work`: a tree that is redrawn on a terminal, one line per change in a
 * pipe. The run may be in another process, so it is polled.
 */
export async function watchWorkflow<T>(
  { err, isTty }: Terminal,
  pml: Pick<OperationClient, 'getRun'>,
  runId: string,
  work: Promise<T>,
): Promise<T> {
  const show = isTty ? drawnOver(err) : lineByLine(err);
  const look = async () => {
    const { plan, tasks } = await pml.getRun({ run_id: runId });
    if (plan) show(plan, tasks);
  };
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  while (!isOver) {
    await Promise.race([over.catch(() => {}), setTimeout(DEFAULTS.everyMs)]);
    // Polling errors are ignored: if they matter, the work fails too.
    await look().catch(() => {});
  }
  return await over;
}

type Show = (plan: Plan, states: TaskStates) => void;

function drawnOver(err: Terminal['err']): Show {
  let before: string[] = [];
  return (plan, states) => {
    const lines = workflowTree(plan, states);
    if (lines.join('\n') === before.join('\n')) return;
    err(`${before.length > 0 ? UP_AND_CLEAR(before.length) : ''}${lines.join('\n')}\n`);
    before = lines;
  };
}

function lineByLine(err: Terminal['err']): Show {
  const told = new Map<string, string>();
  return (plan, states) => {
    for (const task of plan.tasks) {
      const status = states[task.id]?.status;
      if (status === undefined || status === 'running' || told.get(task.id) === status) continue;
      told.set(task.id, status);
      err(`${taskLine(task, states)}\n`);
    }
  };
}

/** The tasks of a plan as a tree, one line each, each task under its last dependency. */
export function workflowTree({ tasks }: Plan, states: TaskStates): string[] {
  const byParent = Map.groupBy(tasks, (task) => parentOf(task, tasks));
  const lines: string[] = [];
  const draw = (task: Task, indent: string, branch: string, below: string) => {
    lines.push(`${indent}${branch}${taskLine(task, states)}`);
    const children = byParent.get(task.id) ?? [];
    for (const [i, child] of children.entries()) {
      const isLast = i === children.length - 1;
      draw(child, indent + below, isLast ? '└─ ' : '├─ ', isLast ? '   ' : '│  ');
    }
  };
  for (const root of byParent.get(null) ?? []) draw(root, '  ', '', '');
  return lines;
}

function taskLine(task: Task, states: TaskStates): string {
  const { id, tool, capability, name } = task;
  const state = stateOf(id, states);
  const what = tool ?? (capability === undefined ? `code:${name ?? 'task'}` : capability);
  const said = state.error?.message ?? state.because ?? '';
  const shown = said.length > DEFAULTS.said ? `${said.slice(0, DEFAULTS.said)}…` : said;
  const facts = [
    state.status === 'success' || state.status === 'pending' ? '' : state.status,
    state.duration_ms === undefined ? '' : `${Math.round(state.duration_ms)} ms`,
    itemsOf(id, states),
    shown,
  ].filter((fact) => fact !== '');
  return printable([MARKS[state.status] ?? '·', id, what, facts.join(', ')].join(' ').trimEnd());
}

/** A list is running as soon as one of its items is. */
function stateOf(id: string, states: TaskStates): TaskState {
  const own = states[id] ?? { status: 'pending' };
  const items = itemStates(id, states);
  if (own.status !== 'pending' || items.length === 0) return own;
  const waits = items.find(({ status }) => status === 'waiting' || status === 'unknown');
  return waits ?? { status: 'running' };
}

function itemsOf(id: string, states: TaskStates): string {
  const items = itemStates(id, states);
  const done = items.filter(({ status }) => status === 'success').length;
  return items.length === 0 ? '' : `${done} of ${items.length} items`;
}

function itemStates(id: string, states: TaskStates): TaskState[] {
  return Object.entries(states)
    .filter(([key]) => key.startsWith(`${id}[`))
    .map(([, state]) => state);
}

/** The dependency that comes last in the plan; null for a task without any. */
function parentOf({ depends_on: before }: Task, tasks: readonly Task[]): string | null {
  return tasks.findLast(({ id }) => before.includes(id))?.id ?? null;
}
