import { z } from 'zod';
import { planToWire } from '../core/vocabulary/plan.ts';
import type { RunRisk } from '../engine/learning/success-watch.ts';
import type { Suggestion } from '../engine/learning/suggest.ts';
import { operation } from './operation.ts';
import { plan, planEdge } from './plan-from-code.ts';
import { capabilityHit, capabilityHitToWire } from './search-capabilities.ts';

const NO_EVIDENCE_FOR_A_PLAN =
  'No past run supports this, and no tool matches the text. Search for tools and run them: PML will know this kind of job next time.';

export const suggestion = z
  .object({
    /** Id to give when running this suggestion; null for an empty plan. */
    suggestion_id: z.string().nullable(),
    plan,
    /** Expected F1 of its tools, calibrated. */
    confidence: z.number(),
    /** Successful similar past runs that used all of its tools. */
    support: z.number(),
    basis: z.enum(['runs', 'text', 'nothing']),
    /** Why the plan is empty. */
    reason: z.string().optional(),
    suggested_capabilities: z.array(capabilityHit),
  })
  .meta({ id: 'Suggestion' });

export function suggestionToWire(made: Suggestion) {
  const { id, confidence, support, basis, suggestedCapabilities } = made;
  return {
    suggestion_id: id,
    plan: planToWire(made.plan),
    confidence,
    support,
    basis,
    ...(basis === 'nothing' && { reason: NO_EVIDENCE_FOR_A_PLAN }),
    suggested_capabilities: suggestedCapabilities.map(capabilityHitToWire),
  };
}

export const nextSteps = z.object({
  next: z.array(z.object({ node: z.string(), score: z.number(), reason: z.string() })),
  /** That this run looks like runs that failed, and what successful ones did. */
  note: z.string().optional(),
});

/** For the agent whose run it is. */
export function noteOf({ chance, failed, succeeded, usual }: RunRisk): string {
  const seen = `This run looks like runs that failed (chance ${chance.toFixed(2)}; ${failed} failed and ${succeeded} successful runs are known).`;
  if (!usual) return `${seen} Check the latest results before you continue.`;
  return `${seen} After ${usual.after}, ${usual.runs} successful runs called ${usual.node}.`;
}

export const suggest = operation({
  name: 'suggest',
  right: 'run',
  scoped: true,
  summary: 'A plan for a job; or, given the tools executed so far, the next step',
  input: z.strictObject({
    intent: z.string().min(1).describe('The goal in plain words'),
    executed: z.array(z.string()).default([]).describe('Tool ids, in order'),
  }),
  output: z.union([
    suggestion.extend({
      edges: z.array(planEdge),
      /** Alternative tools, by task. */
      alternatives: z.record(z.string(), z.array(z.string())),
    }),
    nextSteps,
  ]),
  http: { method: 'POST', path: '/suggest' },
  mcp: {
    tool: 'pml_suggest',
    place: 3,
    title: 'Suggest a plan',
    description:
      'Plan a job of several steps for pml_execute_workflow; or, given the tools executed, the next step.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  async run({ gateway }, { intent, executed }, caller) {
    if (executed.length > 0) {
      const next = await gateway.predictNext(intent, executed, caller);
      const risk = await gateway.riskOfJob(caller);
      return { next, ...(risk && { note: noteOf(risk) }) };
    }
    const made = await gateway.suggest(intent, caller);
    const { edges, alternatives } = made;
    return { ...suggestionToWire(made), edges, alternatives };
  },
});
