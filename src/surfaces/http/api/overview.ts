import type { Hono } from 'hono';
import type { Gateway } from '../../../engine/gateway.ts';
import { serverToWire, statsToWire } from '../../../engine/gateway-wire.ts';
import { countParameter } from './parameters.ts';

const DEFAULTS = { days: 14, maxDays: 366 };
const DAY_MS = 24 * 3_600_000;

/** What there is: figures, servers, and runs per hour. `last_event_id` is where following on begins. */
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
  api.get('/activity', async (context) => {
    const days = countParameter(context, 'days', DEFAULTS.days, DEFAULTS.maxDays);
    const hours = await gateway.store.traces.tally(new Date(Date.now() - days * DAY_MS));
    return context.json({
      hours: hours.map(({ hour, ...counts }) => ({ hour: hour.toISOString(), ...counts })),
    });
  });
}
