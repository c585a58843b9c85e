import { setTimeout } from 'node:timers/promises';
import type { OperationClient } from '../../operations/operation-client.ts';
import type { Terminal } from './command.ts';
import { type Plan, type TaskStates, taskLine, workflowTree } from './tell-run.ts';

const DEFAULTS = {
  /** Milliseconds between two reads of the run. */
  everyMs: 150,
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
