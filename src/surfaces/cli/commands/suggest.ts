import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { printable } from '../../../core/vocabulary/text.ts';
import type { Answer, OperationClient } from '../../../operations/operation-client.ts';
import { type CommandContext, type CommandModule, columns } from '../command.ts';
import { parseList } from '../parse-option.ts';
import type { GlobalOptions } from '../system.ts';
import { withGateway } from '../with-gateway.ts';

type Suggestion = Extract<Answer<'suggest'>, { readonly plan: unknown }>;
type Plan = Suggestion['plan'];
/** The suggestion fields to print. */
type Told = Pick<Suggestion, 'suggestion_id' | 'plan' | 'confidence' | 'suggested_capabilities'> & {
  readonly edges?: Suggestion['edges'] | undefined;
  readonly reason?: string | undefined;
};

interface Options extends GlobalOptions {
  readonly after?: string[];
}

export const nextCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('next')
    .argument('<intent>', 'what you are doing')
    .description('predict the next tool')
    .option('--after <tools>', 'tools used so far, in order, for example a:b,c:d', parseList)
    .addHelpText('after', '\nExample:\n  $ pml next "tidy the notes" --after filesystem:list_directory')
    .action((intent: string, options: Options) =>
      withGateway(context, options, 'next', async (pml) => {
        const { next } = await pml.predictNext({ intent, executed: options.after ?? [] });
        if (options.json) terminal.out(`${JSON.stringify({ next })}\n`);
        else if (next.length === 0)
          terminal.out('No tool fits. "pml servers ls" shows the attached servers.\n');
        else
          terminal.out(
            columns(next.map(({ node, score, reason }) => [score.toFixed(3), node, printable(reason)])),
          );
      }),
    );
};

const EXAMPLES = `
Example:
  $ pml suggest "read the notes and mail a summary"
  $ pml suggest --reject ID
  $ pml suggest "read the notes" --json | jq .plan | pml workflow run - --args '{"path": "notes.txt"}'`;

interface SuggestOptions extends GlobalOptions {
  readonly reject?: string;
}

export const suggestCommand: CommandModule = (program, context) => {
  const { terminal } = context;
  program
    .command('suggest')
    .argument('[intent]', 'what you want to do')
    .description('suggest a plan of tool calls for an intent')
    .option('--reject <id>', 'reject a suggestion')
    .addHelpText('after', EXAMPLES)
    .action((intent: string | undefined, { reject, ...options }: SuggestOptions) =>
      withGateway(context, options, 'suggest', async (pml) => {
        if (reject !== undefined) return await rejectSuggestion(context, pml, reject);
        if (intent === undefined)
          throw new PmlError('usage', 'The intent is missing: describe what you want to do');
        const suggestion = (await pml.suggest({ intent })) as Suggestion;
        if (options.json) terminal.out(`${JSON.stringify(suggestion)}\n`);
        else
          terminal.out(
            describeSuggestion(suggestion)
              .map((line) => `${printable(line)}\n`)
              .join(''),
          );
      }),
    );
};

async function rejectSuggestion({ terminal, fail }: CommandContext, pml: OperationClient, id: string) {
  try {
    await pml.rejectSuggestion({ suggestion_id: id });
    terminal.err('Rejected: this plan will be suggested less often.\n');
  } catch (error) {
    if (PmlError.from(error).code !== 'store_conflict') throw error;
    terminal.err('The outcome of this suggestion is already known.\n');
    fail();
  }
}

const NOTHING = 'No tool fits. "pml servers ls" shows the attached servers.';

/** A suggested plan as lines of text. */
export function describeSuggestion(told: Told): string[] {
  const { suggestion_id: id, plan, confidence, edges = [], suggested_capabilities: capabilities } = told;
  const lines =
    plan.tasks.length === 0
      ? [told.reason ?? NOTHING]
      : [...plan.tasks.flatMap((task) => step(task, edges)), ...inputs(plan)];
  return [
    ...lines,
    ...(plan.tasks.length === 0
      ? []
      : [`Confidence ${percent(confidence)}${id === null ? '' : ` (suggestion ${id})`}`]),
    ...(capabilities.length === 0 ? [] : ['', 'Capabilities that may fit:']),
    ...capabilities.map(({ slug, description, score }) => `  ${slug}  ${description} (${score.toFixed(3)})`),
  ];
}

function step(task: Plan['tasks'][number], edges: Suggestion['edges']): string[] {
  const { id, depends_on: dependsOn, for_each: forEach, arguments: args, reason, confidence } = task;
  const what = task.tool ?? task.capability ?? (task.name ? `code:${task.name}` : `code: ${task.code}`);
  const after = dependsOn.length === 0 ? '' : `  after ${dependsOn.join(', ')}`;
  return [
    `${id}  ${what}${after}`,
    ...(forEach === undefined ? [] : [`      for each of ${JSON.stringify(forEach)}`]),
    ...Object.entries(args).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`),
    ...(reason === undefined
      ? []
      : [`      ${reason}${confidence === undefined ? '' : ` (${percent(confidence)})`}`]),
    ...edges.filter(({ to }) => to === id).map((edge) => `      ${edge.reason}`),
  ];
}

function inputs(plan: Plan): string[] {
  if (plan.inputs.length === 0) return [];
  const lines = plan.inputs.map(({ name, schema, description }) => {
    const { type, description: meant = description } = (schema ?? {}) as {
      type?: unknown;
      description?: unknown;
    };
    const kind = typeof type === 'string' ? ` (${type})` : '';
    return `  ${name}${kind}${typeof meant === 'string' ? `: ${meant}` : ''}`;
  });
  return ['', 'Inputs:', ...lines, ''];
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
