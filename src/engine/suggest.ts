import type { Plan } from '../core/vocabulary/plan.ts';
import type { SearchHit } from './gateway.ts';

const DEFAULTS = {
  /** A tool stands in the plan while its score is at least this share of the best one's. */
  closeToBest: 0.85,
  maxTasks: 3,
};

/**
 * A plan from search alone: the tools that fit the intent about as well as the best one does, one
 * task each, with the arguments they need listed as inputs. It knows no order and says so by its
 * confidence, which is the best tool's score.
 */
export function suggestFromSearch(
  intent: string,
  hits: readonly SearchHit[],
): { plan: Plan; confidence: number } {
  const best = hits[0]?.finalScore ?? 0;
  const chosen = hits
    .filter((hit) => hit.finalScore >= best * DEFAULTS.closeToBest)
    .slice(0, DEFAULTS.maxTasks);
  const tasks = chosen.map(({ tool, finalScore }, i) => ({
    id: `t${i + 1}`,
    tool: tool.id,
    arguments: Object.fromEntries(
      requiredOf(tool.inputSchema).map((name) => [name, `\${t${i + 1}_${name}}`]),
    ),
    dependsOn: [],
    reason: `fits "${intent}" best by name and description`,
    confidence: finalScore,
  }));
  const inputs = chosen.flatMap(({ tool }, i) =>
    requiredOf(tool.inputSchema).map((name) => ({
      name: `t${i + 1}_${name}`,
      schema: propertyOf(tool.inputSchema, name),
    })),
  );
  return { plan: { tasks, inputs }, confidence: Math.max(0, Math.min(1, best)) };
}

function requiredOf(schema: unknown): string[] {
  const required = (schema as { required?: unknown } | null)?.required;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function propertyOf(schema: unknown, name: string): unknown {
  return (schema as { properties?: Record<string, unknown> } | null)?.properties?.[name] ?? {};
}
