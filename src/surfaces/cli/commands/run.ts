import { randomUUID } from 'node:crypto';
import { printable } from '../../../core/vocabulary/text.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { describeSuggestion } from '../describe-suggestion.ts';
import { parseCount, parseObject, readInput } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { type Execution, tellRun, tellValue, tellWorkflow, type WorkflowAnswer } from '../tell-run.ts';
import { watchWorkflow } from '../watch-workflow.ts';
import { withGateway } from '../with-gateway.ts';
import { missing } from './replay.ts';

type Executed = Answer<'execute'>;
type PlannedAnswer = WorkflowAnswer & { readonly result?: unknown };
type IntentAnswer = Extract<Executed, { readonly confidence: number }>;

interface RunOptions extends GlobalOptions {
  readonly intent?: string;
  readonly args?: JsonObject;
  readonly timeout?: number;
  readonly asPlan?: boolean;
}

const EXAMPLES = `
Example:
  $ pml run summarise.ts --intent "summarise the notes" --args '{"path": "notes"}'
  $ echo 'return await mcp.memory.read_graph()' | pml run -
  $ pml run --intent "summarise the notes" --args '{"path": "notes"}'

Available in the program: mcp.<server>.<tool>(args), capabilities.<slug>(args), args, console.
Top-level await and return both work. Console output goes to stderr, the returned value to stdout.
With --as-plan it runs as a workflow: read-only calls run in parallel, and it can be interrupted and resumed.
Without a file, PML runs the plan it suggests for the intent, if its confidence is high and the plan is safe.`;

export const runCommand: CommandModule = (program, context) => {
  program
    .command('run')
    .argument('[file]', 'TypeScript or JavaScript; - for stdin')
    .description('run a program that calls tools')
    .option('--intent <text>', 'what the run is for; used for search and learning')
    .option('--args <json>', 'value of args in the program, as JSON', parseObject)
    .option('--timeout <ms>', 'timeout in milliseconds', parseCount)
    .option('--as-plan', 'run it as a workflow: reads run in parallel, and it can be interrupted and resumed')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, { intent, args, timeout, asPlan, ...options }: RunOptions) => {
      const rest = { ...(args && { arguments: args }), ...(intent !== undefined && { intent }) };
      if (file === undefined) {
        const wanted = intent ?? missing();
        await withGateway(context, options, 'run', (pml) =>
          runIntent(context, pml, { ...rest, intent: wanted }, options),
        );
        return;
      }
      const { text: code, ...named } = await readInput(file, context.terminal, 'TypeScript');
      await withGateway(context, options, 'run', async (pml) => {
        if (asPlan) return await runAsPlan(context, pml, { code, ...rest }, options);
        const call = { code, ...rest, ...(timeout !== undefined && { timeout_ms: timeout }) };
        tellRun(context, (await pml.execute(call)) as Execution, options, { ...named, code });
      });
    });
};

async function runAsPlan(
  context: CommandContext,
  pml: OperationClient,
  call: { readonly code: string; readonly arguments?: JsonObject; readonly intent?: string },
  options: GlobalOptions,
): Promise<void> {
  const made = (await watched(context, pml, { ...call, as_plan: true }, options)) as PlannedAnswer;
  if (!options.json && made.status === 'success') tellValue(context.terminal, made.result);
  else tellWorkflow(context, made, options);
}

async function runIntent(
  context: CommandContext,
  pml: OperationClient,
  call: { readonly intent: string; readonly arguments?: JsonObject },
  options: GlobalOptions,
): Promise<void> {
  const { terminal } = context;
  const made = (await watched(context, pml, call, options)) as IntentAnswer;
  if (made.status !== 'suggestion') return tellWorkflow(context, made, options, made.plan);
  context.fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(made)}\n`);
    return;
  }
  for (const line of describeSuggestion(made)) terminal.err(`${printable(line)}\n`);
  for (const why of made.why_not_run) terminal.err(`Not run: ${printable(why)}.\n`);
  if (made.suggestion_id !== null)
    terminal.err(
      `To run it: pml suggest … --json | jq .plan | pml workflow run - --suggestion ${made.suggestion_id}\n`,
    );
}

/** Shows the progress of the run. */
async function watched(
  { terminal }: CommandContext,
  pml: OperationClient,
  call: Parameters<OperationClient['execute']>[0],
  options: GlobalOptions,
): Promise<Executed> {
  const runId = randomUUID();
  const running = pml.execute({ ...call, run_id: runId });
  return options.json ? await running : await watchWorkflow(terminal, pml, runId, running);
}
