import { Option } from 'commander';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import { STANDING_SCOPES, type StandingScope } from '../../../engine/people/standing-approvals.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandModule } from '../command.ts';
import { columns, countOf } from '../command.ts';
import { confirmed, parseCount, parseObject, readInput } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { type Approval, askedFor, type Run, tellRun, tellWorkflow, workflowTree } from '../tell-run.ts';
import { known, withGateway } from '../with-gateway.ts';

interface ListOptions extends GlobalOptions {
  readonly all?: boolean;
  readonly limit: number;
}

interface DecideOptions extends GlobalOptions {
  readonly yes?: boolean;
  readonly task?: string;
  readonly acceptDefinition?: boolean;
  readonly always?: StandingScope;
}

interface EditOptions extends GlobalOptions {
  readonly task?: string;
  readonly args: JsonObject;
}

interface ForkOptions extends GlobalOptions {
  readonly at: string;
  readonly set?: JsonObject;
  readonly code?: string;
}

type ForkInput = Parameters<OperationClient['forkRun']>[0];

const FORK_EXAMPLES = `
Example:
  $ pml runs fork 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11 --at web:fetch#0 --set '{"result": {"status": 404}}'
  $ pml runs fork 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11 --at web:fetch#1 --set '{"arguments": {"url": "…"}}'
  $ pml runs fork 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11 --at web:fetch#1 --code fixed.ts

Without --set the call is made again. From it on, calls are made for real. PML learns nothing from the run.`;

const DECISIONS = {
  approve: {
    decision: 'approved',
    does: 'approve exactly the call a run waits for',
    question: 'Approve it?',
  },
  reject: { decision: 'rejected', does: 'reject the call a run waits for', question: 'Reject it?' },
} as const;

export const runsCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  const runs = program.command('runs').description('list runs that wait for your decision, and decide');

  runs
    .command('ls', { isDefault: true })
    .description('list the runs that wait for a decision, with their calls')
    .option('--all', 'include all other runs')
    .option('--limit <number>', 'maximum number of runs, with --all', parseCount, 20)
    .addHelpText('after', '\nExample:\n  $ pml runs ls')
    .action((options: ListOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const listed = await pml.listRuns(options.all ? { limit: options.limit } : { waiting: true });
        const found = listed.runs;
        if (options.json) terminal.out(`${JSON.stringify(listed)}\n`);
        else if (found.length === 0)
          terminal.out(options.all ? 'No runs.\n' : 'No runs are waiting for your decision.\n');
        else terminal.out(found.map(describe).join('\n'));
      }),
    );

  runs
    .command('show')
    .argument('<id>', 'id of the run')
    .description('show one run and all its approvals')
    .addHelpText('after', '\nExample:\n  $ pml runs show 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const run = await runOf(pml, id);
        terminal.out(options.json ? `${JSON.stringify(run)}\n` : `${describe(run)}${tasksOf(run)}`);
      }),
    );

  for (const [name, { decision, does, question }] of Object.entries(DECISIONS)) {
    const command = runs
      .command(name)
      .argument('<id>', 'id of the run')
      .description(does)
      .option('--task <id>', 'only this task of the run')
      .option('--yes', 'do not ask for confirmation');
    if (decision === 'approved') {
      command.option('--accept-definition', 'also accept the changed definition of the tool for later calls');
      command.addOption(
        new Option(
          '--always <scope>',
          'also approve later calls of the tool: all, those with the same arguments, or those in this session',
        ).choices(STANDING_SCOPES),
      );
    }
    command
      .addHelpText('after', `\nExample:\n  $ pml runs ${name} 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11`)
      .action((id: string, options: DecideOptions) =>
        withGateway(context, options, 'runs', async (pml) => {
          const run = await runOf(pml, id);
          const asked = askedBy(run, options.task);
          if (asked.length === 0) throw nothingToDecide(id);
          // On stderr, so that a pipe only gets the result.
          terminal.err(`${asked.map(askedFor).join('\n')}\n`);
          if (!(await confirmed(terminal, question, options))) {
            terminal.err('Nothing was decided.\n');
            return;
          }
          // Only the approvals shown: one requested meanwhile stays open.
          const shown = { run_id: id, approval_ids: asked.map((approval) => approval.approval_id) };
          const { acceptDefinition = false, always } = options;
          const beyond = { accept_definition: acceptDefinition, ...(always && { always }) };
          const settled = await unlessSettled(
            decision === 'approved' ? pml.approveRun({ ...shown, ...beyond }) : pml.rejectRun(shown),
          );
          if (!settled) throw nothingToDecide(id);
          terminal.out(options.json ? `${JSON.stringify(settled)}\n` : `Run ${id} is ${decision}.\n`);
          if (always) terminal.err('Later calls are also approved. See "pml runs allowed".\n');
        }),
      );
  }

  runs
    .command('allowed')
    .description('list the approvals that also apply to later calls')
    .addHelpText('after', '\nExample:\n  $ pml runs allowed')
    .action((options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const { approvals } = await pml.listStandingApprovals({});
        if (options.json) terminal.out(`${JSON.stringify({ approvals })}\n`);
        else if (approvals.length === 0) terminal.out('Nothing is approved for later calls.\n');
        else terminal.out(columns(approvals.map(allowedRow)));
      }),
    );

  runs
    .command('revoke')
    .argument('<id>', 'id from "pml runs allowed"')
    .description('revoke an approval of later calls, so that they need approval again')
    .addHelpText('after', '\nExample:\n  $ pml runs revoke 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const revoked = await pml.revokeStandingApproval({ id });
        const told = `Calls of ${printable(revoked.node)} need approval again.\n`;
        terminal.out(options.json ? `${JSON.stringify(revoked)}\n` : told);
      }),
    );

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
      withGateway(context, options, 'runs', async (pml) => {
        const before = await runOf(pml, id);
        const edit = { run_id: id, arguments: args, ...(task !== undefined && { task }) };
        const run = await pml.editRun(edit);
        if (options.json) {
          terminal.out(`${JSON.stringify(run)}\n`);
          return;
        }
        const asked = run.approvals.filter((approval) => isNew(approval, before)).map(askedFor);
        terminal.out(`${asked.join('\n')}\nApprove it with "pml runs approve ${id}".\n`);
      }),
    );

  runs
    .command('resume')
    .argument('<id>', 'id of the run')
    .description('resume a run after its approval')
    .addHelpText('after', '\nExample:\n  $ pml runs resume 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const run = await runOf(pml, id);
        if (isStored(run) && run.status !== 'paused') throw ended(id, run.status);
        tellWorkflow(context, await pml.resumeRun({ run_id: id }), options);
      }),
    );

  runs
    .command('fork')
    .argument('<id>', 'id of the run, or of its trace')
    .description('repeat a recorded run from one of its calls; earlier calls are answered from its trace')
    .requiredOption('--at <call>', 'the call, such as filesystem:read_file#0')
    .option(
      '--set <json>',
      'the result to assume for the call, or the arguments to make it with',
      parseObject,
    )
    .option('--code <file>', 'TypeScript or JavaScript instead of the program that ran; - for stdin')
    .addHelpText('after', FORK_EXAMPLES)
    .action(async (id: string, { at, set, code: file, ...options }: ForkOptions) => {
      const source = file === undefined ? null : await readInput(file, terminal, 'TypeScript');
      const code = source ? { code: source.text } : {};
      const edit = set && { set: set as ForkInput['set'] };
      await withGateway(context, options, 'runs', async (pml) => {
        const asked = pml.forkRun({ run_id: id, at, ...edit, ...code } as ForkInput);
        const made = await known(asked, 'See "pml trace ls", and "pml trace show" for the calls.');
        if ('results' in made) tellWorkflow(context, made, options);
        else tellRun(context, made, options, source && { file: source.file, code: source.text });
      });
    });

  runs
    .command('abort')
    .argument('<id>', 'id of the run')
    .description('abort an unfinished run; completed calls are not undone')
    .addHelpText('after', '\nExample:\n  $ pml runs abort 0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11')
    .action((id: string, options: GlobalOptions) =>
      withGateway(context, options, 'runs', async (pml) => {
        const { status } = await runOf(pml, id);
        if (status !== 'paused' && status !== 'running') throw ended(id, status);
        // Rejects pending approvals in this person's name; an abort alone would be attributed to the agent.
        await unlessSettled(pml.rejectRun({ run_id: id }));
        const aborted = await pml.abortRun({ run_id: id });
        terminal.out(options.json ? `${JSON.stringify(aborted)}\n` : `Run ${id} is aborted.\n`);
      }),
    );
};

type Standing = Answer<'list_standing_approvals'>['approvals'][number];

function allowedRow({ id, node, scope, user, arguments: args, ...one }: Standing): string[] {
  const what = scope === 'arguments' ? JSON.stringify(args) : scope;
  return [id, node, what, user ?? '-', `by ${one.allowed_by}`, one.allowed_at].map(printable);
}

function ended(id: string, status: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} is no longer waiting: its status is ${status}`, {
    hint: `See "pml runs show ${id}".`,
  });
}

function runOf(pml: OperationClient, id: string): Promise<Run> {
  return known(pml.getRun({ run_id: id }), 'See "pml runs ls --all".');
}

/** Null if somebody else decided first. */
async function unlessSettled(decision: Promise<Run>): Promise<Run | null> {
  try {
    return await decision;
  } catch (error) {
    if (PmlError.from(error).code !== 'store_conflict') throw error;
    return null;
  }
}

/** A call whose caller still waits has no stored run yet. */
function isStored({ updated_at: updatedAt }: Run): boolean {
  return updatedAt !== null;
}

function isNew({ approval_id: id }: Approval, { approvals }: Run): boolean {
  return !approvals.some((other) => other.approval_id === id);
}

function nothingToDecide(id: string): PmlError {
  return new PmlError('store_conflict', `Run ${id} has no pending approval`, {
    hint: `"pml runs show ${id}" shows who decided.`,
  });
}

/** The pending approvals of a run, or of one of its tasks or items. */
function askedBy({ tasks, approvals }: Run, task: string | undefined): Approval[] {
  const pending = approvals.filter(({ state }) => state === 'pending');
  if (task === undefined) return pending;
  return pending.filter(({ approval_id: id }) => id === tasks[task]?.approval_id);
}

/** The tasks of a workflow as a tree; empty for a single call. */
function tasksOf({ kind, plan, tasks, ahead }: Run): string {
  if (kind !== 'workflow' || !plan) return '';
  const lines = workflowTree(plan, tasks);
  if (ahead) lines.push(`  ${countOf(ahead.started, 'call')} ran ahead, ${ahead.used} used`);
  return `${lines.join('\n')}\n`;
}

function describe({ run_id: id, status, intent, approvals }: Answer<'list_runs'>['runs'][number]): string {
  const head = [id, status, intent ?? ''].join('  ').trimEnd();
  return `${[printable(head), ...approvals.map(askedFor)].join('\n')}\n`;
}
