import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { traceSummaryToWire } from '../../../core/vocabulary/execution-trace.ts';
import { skillFolder } from '../../../engine/capabilities/manage-capabilities.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { capabilitySummaryToWire, capabilityToWire, codeRunToWire } from '../../../engine/gateway-wire.ts';
import { visibleTo } from '../../../engine/people/roles.ts';
import { whoIs } from '../guard.ts';
import { CALL, callerOf, callOf, told } from './execute.ts';
import { countParameter } from './parameters.ts';
import { readBody } from './read-body.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

const RENAME = z.strictObject({ to: z.string().min(1) });
const KEEP_PRIVATE = z.strictObject({ user: z.string().min(1).optional() });
const QUARANTINE = z.strictObject({
  reason: z.string().min(1).default('by a person'),
  /** Lets it be called again. */
  lift: z.boolean().default(false),
});

export function capabilityRoutes(api: Hono, gateway: Gateway): void {
  const asked = (context: Context) => ({ who: whoIs(context) });
  const slugOf = (context: Context) => context.req.param('slug') ?? '';

  api.get('/capabilities', async (context) =>
    context.json({
      capabilities: (await gateway.capabilities.list(asked(context))).map(capabilitySummaryToWire),
    }),
  );
  api.get('/capabilities/:slug', async (context) =>
    context.json(capabilityToWire(await gateway.capabilities.show(slugOf(context), asked(context)))),
  );
  // The runs it was learned from, as far as they are still kept, and those that called it, newest first.
  api.get('/capabilities/:slug/runs', async (context) => {
    const { id, evidence } = await gateway.capabilities.show(slugOf(context), asked(context));
    const limit = countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit);
    const seen = visibleTo(whoIs(context));
    const { traces } = gateway.store;
    const [calls, ...learnedFrom] = await Promise.all([
      traces.list({ capabilityId: id, limit, ...seen }),
      ...evidence.runIds.map((runId) => traces.list({ runId, limit: 1, ...seen })),
    ]);
    return context.json({
      learned_from: learnedFrom.flat().map(traceSummaryToWire),
      calls: calls.map(traceSummaryToWire),
    });
  });
  api.get('/capabilities/:slug/export', async (context) => {
    const files = await gateway.capabilities.export(slugOf(context), asked(context));
    return context.json({ folder: skillFolder(files), files });
  });
  api.post('/capabilities/:slug/run', async (context) => {
    const call = callOf(await readBody(context, CALL));
    // What is not there is an error of the request, not of a run.
    const { slug } = await gateway.capabilities.show(slugOf(context), asked(context));
    const made = await gateway.executeCapability({ capability: slug, ...call }, callerOf(context));
    return context.json(told(codeRunToWire(made)));
  });
  api.post('/capabilities/:slug/share', async (context) =>
    context.json(capabilityToWire(await gateway.capabilities.share(slugOf(context), asked(context)))),
  );
  api.post('/capabilities/:slug/keep-private', async (context) => {
    const { user } = await readBody(context, KEEP_PRIVATE);
    const kept = await gateway.capabilities.keepPrivate(slugOf(context), user, asked(context));
    return context.json(capabilityToWire(kept));
  });
  api.post('/capabilities/:slug/rename', async (context) => {
    const { to } = await readBody(context, RENAME);
    return context.json(capabilityToWire(await gateway.capabilities.rename(slugOf(context), to)));
  });
  api.post('/capabilities/:slug/quarantine', async (context) => {
    const { reason, lift } = await readBody(context, QUARANTINE);
    return context.json(
      capabilityToWire(await gateway.capabilities.quarantine(slugOf(context), lift ? null : reason)),
    );
  });
  api.post('/capabilities/:slug/forget', async (context) => {
    const { slug } = await gateway.capabilities.show(slugOf(context));
    return context.json({ slug, forgotten: await gateway.capabilities.forget(slug) });
  });
}
