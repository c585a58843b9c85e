import type { JsonObject } from '../../../engine/ports.ts';
import { invalidParams } from '../rpc-error.ts';

const RESULTS = 'results';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Resources that a client can fetch directly. */
const PUBLIC = /^https?:/i;

/** The views of MCP Apps and the files of skills, which hosts tell by their scheme. */
const KEPT_SCHEMES = ['ui://', 'skill://'];
const VIEW_BEFORE = 'ui/resourceUri';

/**
 * `pml://<server>/<its own uri>`: a resource of a server behind the gateway. Also for templates. The view of an app and a
 * skill keep their scheme: `ui://<server>/<the rest>`.
 */
export function gatewayUri(server: string, uri: string): string {
  const scheme = KEPT_SCHEMES.find((kept) => uri.startsWith(kept));
  return scheme === undefined ? `pml://${server}/${uri}` : `${scheme}${server}/${uri.slice(scheme.length)}`;
}

export function resultUri(id: string): string {
  return `pml://${RESULTS}/${id}`;
}

export type GatewayUri = { readonly result: string } | { readonly server: string; readonly uri: string };

export function parseGatewayUri(text: unknown): GatewayUri {
  const match = /^(?:pml|ui|skill):\/\/([^/]+)\/(.+)$/s.exec(String(text));
  if (!match?.[1] || !match[2]) {
    throw invalidParams(`"${text}" is not a resource of this gateway; its URIs look like pml://SERVER/URI`);
  }
  const scheme = KEPT_SCHEMES.find((kept) => match[0].startsWith(kept));
  if (scheme !== undefined) return { server: match[1], uri: `${scheme}${match[2]}` };
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

/** A tool's definition whose view, if it has one, can be read through the gateway. */
export function withGatewayView(server: string, definition: JsonObject): JsonObject {
  const meta = definition._meta as JsonObject | undefined;
  const view = meta?.ui as JsonObject | undefined;
  const isNamed = typeof view?.resourceUri === 'string';
  // The form that the extension had before, which servers still send beside the new one.
  const before = meta?.[VIEW_BEFORE];
  if (!meta || (!isNamed && typeof before !== 'string')) return definition;
  return {
    ...definition,
    _meta: {
      ...meta,
      ...(isNamed && { ui: { ...view, resourceUri: gatewayUri(server, String(view.resourceUri)) } }),
      ...(typeof before === 'string' && { [VIEW_BEFORE]: gatewayUri(server, before) }),
    },
  };
}
