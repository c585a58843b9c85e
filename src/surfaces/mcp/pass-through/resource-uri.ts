import type { JsonObject } from '../../../engine/ports.ts';
import { invalidParams } from '../rpc-error.ts';

const RESULTS = 'results';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Resources that a client can fetch directly. */
const PUBLIC = /^https?:/i;

/** `pml://<server>/<its own uri>`: a resource of a server behind the gateway. Also for templates. */
export function gatewayUri(server: string, uri: string): string {
  return `pml://${server}/${uri}`;
}

export function resultUri(id: string): string {
  return `pml://${RESULTS}/${id}`;
}

export type GatewayUri = { readonly result: string } | { readonly server: string; readonly uri: string };

export function parseGatewayUri(text: unknown): GatewayUri {
  const match = /^pml:\/\/([^/]+)\/(.+)$/s.exec(String(text));
  if (!match?.[1] || !match[2]) {
    throw invalidParams(`"${text}" is not a resource of this gateway; its URIs look like pml://SERVER/URI`);
  }
  // A server's URI has a scheme and is never a bare uuid, so a server may be called "results".
  if (match[1] === RESULTS && UUID.test(match[2])) return { result: match[2] };
  return { server: match[1], uri: match[2] };
}

/** Rewrites resource URIs in content, so that they can be read through the gateway. */
export function throughGateway(server: string, block: JsonObject): JsonObject {
  if (block.type === 'resource_link') return renamed(server, block);
  if (block.type === 'resource' && typeof block.resource === 'object' && block.resource !== null) {
    return { ...block, resource: renamed(server, block.resource as JsonObject) };
  }
  return block;
}

function renamed(server: string, named: JsonObject): JsonObject {
  if (typeof named.uri !== 'string' || PUBLIC.test(named.uri)) return named;
  return { ...named, uri: gatewayUri(server, named.uri) };
}
