import type { Context, Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { textParameter } from './parameters.ts';

export function graphRoutes(api: Hono, gateway: Gateway): void {
  api.get('/graph', async (context) => context.json(await gateway.graph.view()));
  api.get('/path', async (context) => {
    const [from, to] = [nodeParameter(context, 'from'), nodeParameter(context, 'to')];
    return context.json(await gateway.graph.path(from, to));
  });
}

function nodeParameter(context: Context, name: string): string {
  const node = textParameter(context, name);
  if (node !== undefined) return node;
  throw new PmlError('invalid_argument', `Where the path ${name === 'from' ? 'begins' : 'ends'} is missing`, {
    hint: 'Write it as ?from=files:read&to=files:write.',
  });
}
