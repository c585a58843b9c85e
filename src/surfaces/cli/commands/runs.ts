import { userInfo } from 'node:os';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import type { Approval, JsonObject } from '../../../engine/ports.ts';
import type { PendingRun, ShownApproval } from '../../../engine/runs/pending-runs.ts';
import { aheadIn } from '../../../engine/workflow/task-state.ts';
import { runToWire, workflowToWire } from '../../../operations/shapes/run.ts';
import type { CommandModule } from '../command.ts';
import { countOf } from '../command.ts';
import { confirmed, parseCount, parseObject } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { askedFor, tellWorkflow } from '../tell-run.ts';
import { type ShownStates, workflowTree } from '../watch-workflow.ts';
import { withGateway } from '../with-gateway.ts';

interface ListOptions extends GlobalOptions {
  readonly all?: boolean;
  readonly limit: number;
}

interface DecideOptions extends GlobalOptions {
  readonly yes?: boolean;
  readonly task?: string;
  readonly acceptDefinition?: boolean;
}

interface EditOptions extends GlobalOptions {
  readonly task?: string;
  readonly args: JsonObject;
}

const DECISIONS = {
  approve: { decision: 'approved', does: 'approve exactly the call a run asks for', question: 'Approve it?' },
  reject: { decision: 'rejected', does: 'reject the call a run asks for', question: 'Reject it?' },
} as const;

export const runsCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const runs = program.command('runs').description('list runs that wait for your decision, and decide');

  runs
    .command('ls', { isDefault: true })
    .description('list the runs that wait for a decision, and what they ask for')
    .option('--all', 'include all other runs')
    .option('--limit <number>', 'maximum number of runs, with --all', parseCount, 20)
    .addHelpText('after', '\nExample:\n  $ pml runs ls')
    .action((options: ListOptions) =>
      withGateway(context, options, 'runs', async (gateway) => {
        const found = options.all ? await gateway.recentRuns(options.limit) : await gateway.waitingRuns();
        if (options.json) terminal.out(`${JSON.stringify({ runs: found.map(runToWire) })}\n`);
        else if (found.length === 0)
          terminal.out(options.all ? 'No runs.\n' : 'No run waits for your decision.\n');
        else terminal.out(found.map(describe).join('\n'));
      }),
    );

  runs
    .command('show')
    .argument('<id>', 'id of the run')
    .description('show one run and all its approvals')
    .addHelpText('after', '\nExample:\n  $ pml runs show 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (gateway) => {
        const run = await known(gateway, id);
        terminal.out(
          options.json ? `${JSON.stringify(runToWire(run))}\n` : `${describe(run)}${tasksOf(run)}`,
        );
      }),
    );

  for (const [name, { decision, does, question }] of Object.entries(DECISIONS)) {
    const command = runs
      .command(name)
      .argument('<id>', 'id of the run')
      .description(does)
      .option('--task <id>', 'only this task of the run')
      .option('--yes', 'do not ask for confirmation');
    if (decision === 'approved')
      command.option('--accept-definition', 'also accept the changed definition of the tool for later calls');
    command
      .addHelpText('after', `\nExample:\n  $ pml runs ${name} 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11`)
      .action((id: string, options: DecideOptions) =>
        withGateway(context, options, 'runs', async (gateway) => {
          const run = await known(gateway, id);
          const asked = askedBy(run, options.task);
          if (asked.length === 0) throw nothingToDecide(id);
          // On stderr, so that a pipe still gets nothing but the result.
          terminal.err(`${asked.map(askedFor).join('\n')}\n`);
          if (!(await confirmed(terminal, question, options))) {
            terminal.err('Nothing was decided.\n');
            return;
          }
          // Only what was shown: a question that came up meanwhile stays open.
          const shown = asked.map((approval) => approval.id);
          const { acceptDefinition = false } = options;
          if (!(await gateway.settleApproval(id, decision, userInfo().username, shown, acceptDefinition)))
            throw nothingToDecide(id);
          const settled = await known(gateway, id);
          terminal.out(
            options.json ? `${JSON.stringify(runToWire(settled))}\n` : `Run ${id} is ${decision}.\n`,
          );
        }),
      );
  }

  runs
    .command('edit')
    .argument('<id>', 'id of the run')
    .description('change the arguments of a waiting call; the new call needs its own approval')
    .requiredOption('--args <json>', 'the new arguments, as JSON', parseObject)
    .option('--task <id>', 'the task, if several wait')
    .addHelpText(
      'after',
      `\nExample:\n  $ pml runs edit 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11 --args '{"path": "b.txt"}'`,
    )
    .action((id: string, { task, args, ...options }: EditOptions) =>
      withGateway(context, options, 'runs', async (gateway) => {
        await known(gateway, id);
        const by = userInfo().username;
        const approval = await gateway.editCall(id, {
          arguments: args,
          by,
          ...(task !== undefined && { task }),
        });
        const run = await known(gateway, id);
        if (options.json) terminal.out(`${JSON.stringify(runToWire(run))}\n`);
        else terminal.out(`${askedFor(approval)}\nApprove it with "pml runs approve ${id}".\n`);
      }),
    );

  runs
    .command('resume')
    .argument('<id>', 'id of the run')
    .description('resume a run after its approval')
    .addHelpText('after', '\nExample:\n  $ pml runs resume 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (gateway) => {
        const { run } = await known(gateway, id);
        if (run && run.status !== 'paused') throw ended(id, run.status);
        tellWorkflow(context, await gateway.resumeRun(id), options);
      }),
    );

  runs
    .command('abort')
    .argument('<id>', 'id of the run')
    .description('abort an unfinished run; completed calls are not undone')
    .addHelpText('after', '\nExample:\n  $ pml runs abort 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (gateway) => {
        const { run } = await known(gateway, id);
        const isOver = run && run.status !== 'paused' && run.status !== 'running';
        if (isOver) throw ended(id, run.status);
        // What is still asked is refused by this person; giving up alone would be told as the agent's doing.
        await gateway.settleApproval(id, 'rejected', userInfo().username);
        const aborted = await gateway.abortRun(id);
        terminal.out(
          options.json ? `${JSON.stringify(workflowToWire(aborted))}\n` : `Run ${id} is aborted.\n`,
        );
      }),
    );
};

function ended(id: string, status: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} no longer waits: its status is ${status}`, {
    hint: `See "pml runs show ${id}".`,
  });
}

async function known(gateway: GatewayClient, id: string): Promise<PendingRun> {
  const run = await gateway.findRun(id);
  if (run) return run;
  throw new PmlError('not_found', `Run ${id} not found`, { hint: 'See "pml runs ls --all".' });
}

function nothingToDecide(id: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} has no pending approval`, {
    hint: `"pml runs show ${id}" shows who decided.`,
  });
}

/** What waits for a decision: of the whole run, or of one task or item of it. */
function askedBy({ run, approvals }: PendingRun, task: string | undefined): ShownApproval[] {
  const pending = approvals.filter(isPending);
  if (task === undefined) return pending;
  const state = run?.tasks[task] as { readonly approval_id?: string } | undefined;
  return pending.filter(({ id }) => id === state?.approval_id);
}

function isPending({ state }: Approval): boolean {
  return state === 'pending';
}

/** A workflow as the tree of its tasks; a single call is told by what it asks for. */
function tasksOf({ run }: PendingRun): string {
  if (run?.kind !== 'workflow' || !run.plan) return '';
  const { ahead } = aheadIn(run);
  const lines = workflowTree(run.plan, run.tasks as ShownStates);
  if (ahead) lines.push(`  ${countOf(ahead.started, 'call')} ran ahead, ${ahead.used} used`);
  return `${lines.join('\n')}\n`;
}

function describe({ runId, run, approvals }: PendingRun): string {
  const head = [runId, run?.status ?? 'running', run?.intentText ?? ''].join('  ').trimEnd();
  return `${[printable(head), ...approvals.map(askedFor)].join('\n')}\n`;
}
