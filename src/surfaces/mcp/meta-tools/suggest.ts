import { z } from 'zod';
import { suggestionToWire } from '../../../operations/shapes/suggestion.ts';
import { answer } from './answer.ts';
import { metaTool } from './meta-tool.ts';

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
  async ({ intent, executed }, { gateway }, { caller }) => {
    if (executed.length > 0) return answer({ next: await gateway.predictNext(intent, executed) });
    return answer(suggestionToWire(await gateway.suggest(intent, caller)));
  },
);
