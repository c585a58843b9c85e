import type { Context, Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { GRAPH_FORMATS, type GraphFormat } from '../../../engine/graph/graph-formats.ts';
import { textParameter } from './parameters.ts';

const MEDIA_TYPES: Readonly<Record<GraphFormat, string>> = {
  json: 'application/json',
  graphml: 'application/graphml+xml; charset=utf-8',
  dot: 'text/vnd.graphviz; charset=utf-8',
};

export function graphRoutes(api: Hono, gateway: Gateway): void {
  api.get('/graph', async (context) => {
    const format = formatParameter(context);
    const view = await gateway.graph.view();
    if (format === undefined) return context.json(view);
    return context.body(GRAPH_FORMATS[format](view), 200, {
      'content-type': MEDIA_TYPES[format],
      'content-disposition': `attachment; filename="graph.${format}"`,
    });
  });
  api.get('/node', async (context) => {
    const id = textParameter(context, 'id');
    if (id === undefined) {
      throw new PmlError('invalid_argument', 'Which node is missing', {
        hint: 'Write it as ?id=files:read.',
      });
    }
    return context.json(await gateway.graph.node(id));
  });
  api.get('/path', async (context) => {
    const [from, to] = [nodeParameter(context, 'from'), nodeParameter(context, 'to')];
    return context.json(await gateway.graph.path(from, to));
  });
}

/** A file to keep; without it the graph is the answer itself. */
function formatParameter(context: Context): GraphFormat | undefined {
  const format = textParameter(context, 'format');
  if (format === undefined || Object.hasOwn(GRAPH_FORMATS, format)) return format as GraphFormat | undefined;
  throw new PmlError('invalid_argument', `There is no format ${format}`, {
    hint: `There are ${Object.keys(GRAPH_FORMATS).join(', ')}.`,
  });
}

function nodeParameter(context: Context, name: string): string {
  const node = textParameter(context, name);
  if (node !== undefined) return node;
  throw new PmlError('invalid_argument', `Where the path ${name === 'from' ? 'begins' : 'ends'} is missing`, {
    hint: 'Write it as ?from=files:read&to=files:write.',
  });
}
