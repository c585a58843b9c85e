import { isJsonContentType, isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Endpoint } from '../endpoint.ts';
import { type LegacyOptions, LegacyServing } from './legacy-serving.ts';
import { type ModernOptions, ModernServing } from './modern-serving.ts';
import { rpcResponse } from './rpc-response.ts';
import type { ServedEndpoint } from './served-endpoint.ts';

const PARSE_ERROR = -32700;

export type ServingOptions = LegacyOptions & ModernOptions;

/** Serves an endpoint over HTTP; each request says by itself to which protocol era it belongs. */
export function serveEndpoint(endpoint: Endpoint, options: ServingOptions): ServedEndpoint {
  const legacy = new LegacyServing(endpoint, options);
  const modern = new ModernServing(endpoint, options);
  return {
    sessions: () => legacy.sessions(),
    requests: () => modern.requests(),
    publish: (event, user) => modern.publish(event, user),
    close: async () => {
      await Promise.all([legacy.close(), modern.close()]);
    },
    async fetch(request, who) {
      if (request.method !== 'POST') return await legacy.fetch(request, undefined, who);
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return rpcResponse(415, { code: -32000, message: 'Content-Type must be application/json' });
      }
      let body: unknown;
      try {
        body = JSON.parse(await request.text());
      } catch {
        return rpcResponse(400, { code: PARSE_ERROR, message: 'Parse error: the body is not JSON' });
      }
      const isLegacy = !claimsModernEra(body) && (await isLegacyRequest(request, body));
      return await (isLegacy ? legacy : modern).fetch(request, body, who);
    },
  };
}

/** Says of most requests what `isLegacyRequest` says, without checking them: that is done where they are served. */
function claimsModernEra(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { _meta?: JsonObject } };
  return method !== 'initialize' && params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
}
