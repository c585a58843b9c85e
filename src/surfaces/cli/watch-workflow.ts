import { setTimeout } from 'node:timers/promises';
import type { Plan } from '../../core/vocabulary/plan.ts';
import type { GatewayClient } from '../../engine/gateway-procedures.ts';
import type { Terminal } from './command.ts';
import { type ShownStates, taskLine, workflowTree } from './workflow-tree.ts';

const DEFAULTS = {
  /** Between two looks at the run, in milliseconds. */
  everyMs: 150,
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
