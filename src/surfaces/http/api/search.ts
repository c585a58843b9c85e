import type { Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { scoreShares } from '../../../engine/catalogue/search.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { capabilityHitToWire, hitToWire } from '../../../engine/gateway-wire.ts';
import { whoIs } from '../guard.ts';
import { countParameter, textParameter } from './parameters.ts';

const DEFAULTS = { limit: 10, maxLimit: 100 };

export function searchRoutes(api: Hono, gateway: Gateway): void {
  api.get('/search', async (context) => {
    const query = textParameter(context, 'q');
    if (query === undefined) {
      throw new PmlError('invalid_argument', 'What to search for is missing', {
        hint: 'Write it as ?q=read+a+file.',
      });
    }
    const server = textParameter(context, 'server');
    const contextTools = textParameter(context, 'context')?.split(',');
    const limit = countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit);
    const explain = context.req.query('explain') === '1';
    const hits = await gateway.searchTools({
      query,
      limit,
      includeRelated: true,
      ...(context.req.query('signatures') === 'true' && { signatures: true }),
      ...(explain && { explain }),
      ...(server !== undefined && { server }),
      ...(contextTools && { contextTools }),
    });
    const tools = hits.map((hit) => ({ ...hitToWire(hit), ...(explain && { shares: scoreShares(hit) }) }));
    if (context.req.query('capabilities') !== '1') return context.json({ tools });
    const found = await gateway.searchCapabilities(query, limit, { who: whoIs(context) });
    // A capability belongs to no server: those that call tools of the one asked for are given.
    const wanted = found.filter(
      ({ toolsUsed }) => server === undefined || toolsUsed.some((tool) => tool.startsWith(`${server}:`)),
    );
    return context.json({ tools, capabilities: wanted.map(capabilityHitToWire) });
  });
}
