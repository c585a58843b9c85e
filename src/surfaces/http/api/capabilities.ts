import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { Gateway } from '../../../engine/gateway.ts';
import { capabilitySummaryToWire, capabilityToWire, codeRunToWire } from '../../../engine/gateway-wire.ts';
import { CALL, callerOf, callOf, told } from './execute.ts';
import { readBody } from './read-body.ts';

const RENAME = z.strictObject({ to: z.string().min(1) });
const QUARANTINE = z.strictObject({
  reason: z.string().min(1).default('by a person'),
  /** Lets it be called again. */
  lift: z.boolean().default(false),
});

export function capabilityRoutes(api: Hono, gateway: Gateway): void {
  const slugOf = (context: Context) => context.req.param('slug') ?? '';

  api.get('/capabilities', async (context) =>
    context.json({ capabilities: (await gateway.capabilities.list()).map(capabilitySummaryToWire) }),
  );
  api.get('/capabilities/:slug', async (context) =>
    context.json(capabilityToWire(await gateway.capabilities.show(slugOf(context)))),
  );
  api.post('/capabilities/:slug/run', async (context) => {
    const call = callOf(await readBody(context, CALL));
    // What is not there is an error of the request, not of a run.
    const { slug } = await gateway.capabilities.show(slugOf(context));
    const made = await gateway.executeCapability({ capability: slug, ...call }, callerOf(context));
    return context.json(told(codeRunToWire(made)));
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
