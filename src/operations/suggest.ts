import { z } from 'zod';
import { operation } from './operation.ts';
import { plan, suggestion, suggestionToWire } from './shapes/suggestion.ts';

export const suggest = operation({
  name: 'suggest',
  right: 'run',
  summary: 'A plan for a job; or, given what was executed so far, the next step',
  input: z.strictObject({
    intent: z.string().min(1).describe('The goal in plain words'),
    executed: z.array(z.string()).default([]).describe('Tool ids in the order they ran'),
  }),
  output: z.union([
    suggestion.extend({
      edges: z.array(z.object({ from: z.string(), to: z.string(), reason: z.string() })),
      /** Other tools that would do, by task. */
      alternatives: z.record(z.string(), z.array(z.string())),
    }),
    z.object({
      next: z.array(z.object({ node: z.string(), score: z.number(), reason: z.string() })),
    }),
  ]),
  http: { method: 'POST', path: '/suggest' },
  mcp: {
    tool: 'pml_suggest',
    title: 'Suggest a plan',
    description:
      'Plan a job of several steps: get a workflow for pml_execute_workflow; or, given the tools executed so far, the next step.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    output: z.object({
      plan: plan.optional(),
      confidence: z.number().optional(),
      suggested_capabilities: z.array(z.unknown()).optional(),
      next: z.array(z.unknown()).optional(),
    }),
  },
  async run({ gateway }, { intent, executed }, caller) {
    if (executed.length > 0) return { next: await gateway.predictNext(intent, executed) };
    const made = await gateway.suggest(intent, caller);
    const { edges, alternatives } = made;
    return { ...suggestionToWire(made), edges, alternatives };
  },
});
