import { z } from 'zod';
import { answer } from './answer.ts';
import { metaTool } from './meta-tool.ts';
import { capabilityToWire, planToWire } from './wire.ts';

export const suggest = metaTool(
  {
    name: 'pml_suggest',
    title: 'Suggest a plan',
    description:
      'Plan a job of several steps: get a workflow for pml_execute_workflow; or, given the tools executed so far, the next step.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  z.object({
    intent: z.string().min(1).describe('The goal in plain words'),
    executed: z.array(z.string()).default([]).describe('Tool ids in the order they ran'),
  }),
  async ({ intent, executed }, { gateway }) => {
    if (executed.length > 0) return answer({ next: await gateway.predictNext(intent, executed) });
    const { plan, confidence, suggestedCapabilities } = await gateway.suggest(intent);
    const suggested_capabilities = suggestedCapabilities.map(capabilityToWire);
    return answer({ plan: planToWire(plan), confidence, suggested_capabilities });
  },
);
