import { randomUUID } from 'node:crypto';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { PlannedRun } from '../../../engine/gateway.ts';
import type { GatewayClient } from '../../../engine/gateway-procedures.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { intentRunToWire, plannedRunToWire } from '../../../operations/shapes/run.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { parseCount, parseObject, readInput } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { tellRun, tellValue, tellWorkflow } from '../tell-run.ts';
import { watchWorkflow } from '../watch-workflow.ts';
import { withGateway } from '../with-gateway.ts';
import { describeSuggestion } from './suggest.ts';

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
    .option('--timeout <ms>', 'how long it may take', parseCount)
    .option('--as-plan', 'run it as a workflow: parallel reads, can be interrupted')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, { intent, args, timeout, asPlan, ...options }: RunOptions) => {
      const rest = { ...(args && { arguments: args }), ...(intent !== undefined && { intent }) };
      if (file === undefined) {
        const wanted = intent ?? missing();
        await withGateway(context, options, 'run', (gateway) =>
          runIntent(context, gateway, { ...rest, intent: wanted }, options),
        );
        return;
      }
      const { text: code, ...named } = await readInput(file, context.terminal, 'TypeScript');
      await withGateway(context, options, 'run', async (gateway) => {
        if (asPlan) return await runAsPlan(context, gateway, { code, ...rest }, options);
        const call = { code, ...rest, ...(timeout !== undefined && { timeoutMs: timeout }) };
        tellRun(context, await gateway.runCode(call), options, { ...named, code });
      });
    });
};

function missing(): never {
  throw new PmlError('usage', 'Nothing to run: name a file, or state the intent with --intent');
}

async function runAsPlan(
  context: CommandContext,
  gateway: GatewayClient,
  call: { readonly code: string; readonly arguments?: JsonObject; readonly intent?: string },
  options: GlobalOptions,
): Promise<void> {
  const runId = randomUUID();
  const running = gateway.runAsPlan({ ...call, runId });
  const made: PlannedRun = options.json
    ? await running
    : await watchWorkflow(context.terminal, gateway, runId, running);
  if (options.json) {
    if (made.status !== 'success') context.fail();
    context.terminal.out(`${JSON.stringify(plannedRunToWire(made))}\n`);
  } else if (made.status === 'success') tellValue(context.terminal, made.result);
  else tellWorkflow(context, made, options);
}

async function runIntent(
  context: CommandContext,
  gateway: GatewayClient,
  call: { readonly intent: string; readonly arguments?: JsonObject },
  options: GlobalOptions,
): Promise<void> {
  const { terminal } = context;
  const runId = randomUUID();
  const running = gateway.runIntent({ ...call, runId });
  const made = options.json ? await running : await watchWorkflow(terminal, gateway, runId, running);
  if (!made.run) context.fail();
  if (options.json) {
    terminal.out(`${JSON.stringify(intentRunToWire(made))}\n`);
    if (made.run && made.run.status !== 'success') context.fail();
  } else if (made.run) tellWorkflow(context, made.run, options, made.suggestion.plan);
  else {
    for (const line of describeSuggestion(made.suggestion)) terminal.err(`${printable(line)}\n`);
    for (const why of made.why) terminal.err(`Not run: ${printable(why)}.\n`);
    if (made.suggestion.id !== null)
      terminal.err(
        `To run it: pml suggest … --json | jq .plan | pml workflow run - --suggestion ${made.suggestion.id}\n`,
      );
  }
}
