import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import type { Suggestion } from '../../engine/gateway.ts';

const NOTHING = 'No tool fits. "pml servers ls" shows the attached servers.';

/** A suggested plan in lines for a person. */
export function describeSuggestion({
  id,
  plan,
  confidence,
  edges,
  suggestedCapabilities,
}: Suggestion): string[] {
  const lines =
    plan.tasks.length === 0
      ? [NOTHING]
      : [...plan.tasks.flatMap((task) => step(task, edges)), ...inputs(plan)];
  return [
    ...lines,
    ...(plan.tasks.length === 0
      ? []
      : [`Confidence ${percent(confidence)}${id === null ? '' : ` (suggestion ${id})`}`]),
    ...(suggestedCapabilities.length === 0 ? [] : ['', 'Capabilities that may fit:']),
    ...suggestedCapabilities.map(
      ({ slug, description, score }) => `  ${slug}  ${description} (${score.toFixed(3)})`,
    ),
  ];
}

function step(task: Task, edges: Suggestion['edges']): string[] {
  const { id, dependsOn, arguments: args, reason, confidence } = task;
  const what = task.tool ?? task.capability ?? (task.name ? `code:${task.name}` : `code: ${task.code}`);
  const after = dependsOn.length === 0 ? '' : `  after ${dependsOn.join(', ')}`;
  return [
    `${id}  ${what}${after}`,
    ...(task.forEach === undefined ? [] : [`      for each of ${JSON.stringify(task.forEach)}`]),
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
  return ['', 'It needs:', ...lines, ''];
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
