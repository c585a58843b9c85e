import type { Hono } from 'hono';
import type { Gateway } from '../../../engine/gateway.ts';
import { serverToWire, statsToWire } from '../../../engine/gateway-wire.ts';

/** What there is: figures and servers. `last_event_id` is where following on begins. */
export function overviewRoutes(api: Hono, gateway: Gateway, lastEventId: () => string): void {
  api.get('/stats', async (context) => {
    // Before the figures, so that nothing falls between them and the first event.
    const last_event_id = lastEventId();
    return context.json({ ...statsToWire(await gateway.stats()), last_event_id });
  });
  api.get('/servers', async (context) => {
    const last_event_id = lastEventId();
    return context.json({ servers: (await gateway.servers()).map(serverToWire), last_event_id });
  });
}
