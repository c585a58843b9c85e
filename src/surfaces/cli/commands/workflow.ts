import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { type Plan, planFromWire, planToWire } from '../../../core/vocabulary/plan.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { codeFromPlan } from '../../../engine/workflow/execute-as-plan.ts';
import type { CommandContext, CommandModule } from '../command.ts';
import { parseObject, readInput } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { tellWorkflow } from '../tell-run.ts';
import { watchWorkflow } from '../watch-workflow.ts';
import { withGateway } from '../with-gateway.ts';

interface RunOptions extends GlobalOptions {
  readonly intent?: string;
  readonly args?: JsonObject;
  readonly suggestion?: string;
}

const EXAMPLES = `
Example:
  $ pml workflow run tidy.json --intent "tidy the notes"
  $ pml workflow from tidy.ts > tidy.json
  $ pml workflow code tidy.json
  $ pml suggest "read the notes" --json | jq .plan | pml workflow run - --args '{"path": "notes"}'

A workflow is {"tasks": [{"id": "a", "tool": "filesystem:read_file", "arguments": {"path": "notes.txt"}},
{"id": "b", "code": "return deps.a.length", "depends_on": ["a"]}]}. See docs/workflows.md.`;

export const workflowCommand: CommandModule = (program, context) => {
  const workflow = program
    .command('workflow')
    .description('run plans of several tasks, and convert them to and from code');
  addConversions(workflow, context);
  workflow
    .command('run')
    .argument('<file>', 'JSON; - for stdin')
    .description('run a plan; independent tasks run in parallel, and the run can be interrupted and resumed')
    .option('--intent <text>', 'what the run is for; used for search and learning')
    .option('--args <json>', 'inputs of the plan, as JSON', parseObject)
    .option('--suggestion <id>', 'id of the suggestion this plan comes from, to improve later suggestions')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { intent, args, suggestion, ...options }: RunOptions) => {
      const plan = await readPlan(file, args, context.terminal);
      const call = {
        workflow: planToWire(plan),
        run_id: randomUUID(),
        ...(intent !== undefined && { intent }),
        ...(suggestion !== undefined && { suggestion_id: suggestion }),
      };
      await withGateway(context, options, 'workflow', async (pml) => {
        const running = pml.executeWorkflow(call);
        const made = options.json
          ? await running
          : await watchWorkflow(context.terminal, pml, call.run_id, running);
        // A run whose plan was refused does not exist.
        const stored = await pml.getRun({ run_id: call.run_id }).catch(() => null);
        tellWorkflow(context, made, options, stored?.plan);
      });
    });
};

function addConversions(workflow: Command, context: CommandContext): void {
  const { terminal } = context;
  workflow
    .command('code')
    .argument('<file>', 'JSON; - for stdin')
    .description('convert a plan to an equivalent program')
    .action(async (file: string) => terminal.out(codeFromPlan(await readPlan(file, undefined, terminal))));
  workflow
    .command('from')
    .argument('<file>', 'TypeScript or JavaScript; - for stdin')
    .description('convert a program to a plan, or explain why that is not possible')
    .action(async (file: string, options: GlobalOptions) => {
      const { text } = await readInput(file, terminal, 'TypeScript');
      await withGateway(context, options, 'workflow', async (pml) => {
        const { plan } = await pml.planFromCode({ code: text });
        terminal.out(`${JSON.stringify(plan, null, 2)}\n`);
      });
    });
}

async function readPlan(
  file: string,
  args: JsonObject | undefined,
  terminal: Parameters<typeof readInput>[1],
): Promise<Plan> {
  const { file: name, text } = await readInput(file, terminal, 'a workflow as JSON');
  let wire: unknown;
  try {
    wire = JSON.parse(text);
  } catch (cause) {
    throw new PmlError('invalid_argument', `${name} is not valid JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
  const plan = planFromWire(wire);
  return args ? { ...plan, arguments: { ...plan.arguments, ...args } } : plan;
}
