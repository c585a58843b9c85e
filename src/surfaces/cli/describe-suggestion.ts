import type { Answer } from '../../operations/operation-client.ts';

export type Suggestion = Extract<Answer<'suggest'>, { readonly plan: unknown }>;
type Plan = Suggestion['plan'];
/** The suggestion fields to print. */
type Told = Pick<Suggestion, 'suggestion_id' | 'plan' | 'confidence' | 'suggested_capabilities'> & {
  readonly edges?: Suggestion['edges'] | undefined;
  readonly reason?: string | undefined;
};

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
