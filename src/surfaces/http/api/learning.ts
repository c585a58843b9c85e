import type { Hono } from 'hono';
import { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { learningToWire, suggestionToWire } from '../../../engine/gateway-wire.ts';
import { insightToWire } from '../../../engine/learning/learning-insight.ts';
import { callerOf } from './execute.ts';
import { readBody } from './read-body.ts';

const SUGGEST = z.strictObject({
  intent: z.string().min(1),
  /** What ran so far, in order: then the next step is told instead of a plan. */
  executed: z.array(z.string()).default([]),
});

export function learningRoutes(api: Hono, gateway: Gateway): void {
  api.get('/learning', async (context) => context.json(learningToWire(await gateway.learning.report())));
  api.get('/learning/insight', async (context) =>
    context.json(insightToWire(await gateway.learning.insight())),
  );
  // Answers when it is done; a caller that goes away ends it, like a run.
  api.post('/learning/train', async (context) =>
    context.json(learningToWire(await gateway.learning.train(context.req.raw.signal))),
  );
  api.post('/learning/rollback', async (context) =>
    context.json(learningToWire(await gateway.learning.rollBack())),
  );
  api.post('/suggest', async (context) => {
    const { intent, executed } = await readBody(context, SUGGEST);
    if (executed.length > 0) return context.json({ next: await gateway.predictNext(intent, executed) });
    const suggestion = await gateway.suggest(intent, callerOf(context));
    const { edges, alternatives } = suggestion;
    return context.json({ ...suggestionToWire(suggestion), edges, alternatives });
  });
  api.post('/suggestions/:id/reject', async (context) => {
    const id = context.req.param('id');
    if (await gateway.rejectSuggestion(id)) return context.json({ suggestion_id: id, verdict: 'rejected' });
    throw new PmlError('store_conflict', `What became of suggestion ${id} is settled already`);
  });
}
