import { setTimeout } from 'node:timers/promises';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { GatewayClient } from '../../engine/gateway-procedures.ts';
import type { Terminal } from './command.ts';

/** What is known of a task while it runs, as the store has it. */
interface ShownState {
  readonly status: string;
  readonly because?: string;
  readonly error?: { readonly message: string };
  readonly duration_ms?: number;
}

export type ShownStates = Readonly<Record<string, ShownState>>;

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
  /** Between two looks at the run, in milliseconds. */
  everyMs: 150,
  /** Characters of an error or a reason that are shown. */
  said: 80,
};

const UP_AND_CLEAR = (lines: number) => `\u001b[${lines}A\u001b[J`;

/**
 * Shows how a run gets on while `work` is under way: a tree that is drawn over and over for a person, a line per
 * change for a pipe. The run may be in another process, so it is looked at, not listened to.
 */
export async function watchWorkflow<T>(
  { err, isTty }: Terminal,
  gateway: Pick<GatewayClient, 'findRun'>,
  runId: string,
  work: Promise<T>,
): Promise<T> {
  const show = isTty ? drawnOver(err) : lineByLine(err);
  const look = async () => {
    const run = (await gateway.findRun(runId))?.run;
    if (run?.plan) show(run.plan, run.tasks as ShownStates);
  };
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  while (!isOver) {
    await Promise.race([over.catch(() => {}), setTimeout(DEFAULTS.everyMs)]);
    // What goes wrong with looking is told by the work itself, if it matters.
    await look().catch(() => {});
  }
  return await over;
}

type Show = (plan: Plan, states: ShownStates) => void;

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

/** The tasks of a plan as a tree, each below the task it waits for longest; one line each. */
export function workflowTree({ tasks }: Plan, states: ShownStates): string[] {
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

/** One task with what became of it. */
function taskLine(task: Task, states: ShownStates): string {
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

/** A list is under way as soon as one of its items is. */
function stateOf(id: string, states: ShownStates): ShownState {
  const own = states[id] ?? { status: 'pending' };
  const items = itemStates(id, states);
  if (own.status !== 'pending' || items.length === 0) return own;
  const waits = items.find(({ status }) => status === 'waiting' || status === 'unknown');
  return waits ?? { status: 'running' };
}

function itemsOf(id: string, states: ShownStates): string {
  const items = itemStates(id, states);
  const done = items.filter(({ status }) => status === 'success').length;
  return items.length === 0 ? '' : `${done} of ${items.length} items`;
}

function itemStates(id: string, states: ShownStates): ShownState[] {
  return Object.entries(states)
    .filter(([key]) => key.startsWith(`${id}[`))
    .map(([, state]) => state);
}

/** Of several, the one that stands latest in the plan; null for a task that waits for none. */
function parentOf({ dependsOn }: Task, tasks: readonly Task[]): string | null {
  return tasks.findLast(({ id }) => dependsOn.includes(id))?.id ?? null;
}
