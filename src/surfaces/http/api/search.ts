import type { Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { hitToWire } from '../../../engine/gateway-wire.ts';
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
    const hits = await gateway.searchTools({
      query,
      limit: countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit),
      includeRelated: true,
      ...(context.req.query('signatures') === 'true' && { signatures: true }),
      ...(context.req.query('explain') === '1' && { explain: true }),
      ...(server !== undefined && { server }),
      ...(contextTools && { contextTools }),
    });
    return context.json({ tools: hits.map(hitToWire) });
  });
}
