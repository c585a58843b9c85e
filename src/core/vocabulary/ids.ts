import { PmlError } from './pml-error.ts';

/** `server:tool`, the only spelling of a tool inside PML. */
export type ToolId = string & { readonly __brand: 'ToolId' };
/** `capability:<uuid>`, a capability as a node of graph and traces. */
export type CapabilityNodeId = string & { readonly __brand: 'CapabilityNodeId' };
/** `code:filter`, an operation of user code, traced and stored like a tool. */
export type OperationId = string & { readonly __brand: 'OperationId' };
export type NodeId = ToolId | CapabilityNodeId | OperationId;
export type NodeKind = 'tool' | 'capability' | 'operation';

const CAPABILITY_PREFIX = 'capability:';
const OPERATION_PREFIX = 'code:';
const RESERVED_SERVERS = new Set(['capability', 'code']);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const SLUG = /^[a-z][a-z0-9_]*$/;

/** Id of a plan's code task that has no name of its own. */
export const CODE_TASK = 'code:task' as OperationId;

/** `code` and `capability` are reserved: their ids would be read as operations and capabilities. */
export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name) && !RESERVED_SERVERS.has(name);
}

export function toolId(server: string, tool: string): ToolId {
  if (!isServerName(server)) {
    throw new PmlError('invalid_id', `"${server}" is not a valid server name`, {
      hint: 'Use letters, digits, "_", "-" and "."; "code" and "capability" are reserved.',
    });
  }
  if (tool.trim() === '') throw new PmlError('invalid_id', `A tool of server "${server}" has no name`);
  return `${server}:${tool}` as ToolId;
}

/**
 * Normalises the spellings in use to `server:tool`: `server:tool`, `server__tool`,
 * `mcp__server__tool`, `server.tool` and `server/tool`. The first separator wins, so a tool
 * name may itself contain any of them.
 */
export function parseToolId(text: string, knownServers?: Iterable<string>): ToolId {
  const servers = [...(knownServers ?? [])];
  // PML's own spelling is never ambiguous: no server has a colon in its name.
  const own = text.includes(':') ? splitToolId(text as ToolId) : null;
  if (own && servers.includes(own.server)) return toolId(own.server, own.tool);
  const trimmed = text.trim();
  // The longest first: with servers `a` and `a.b`, `a.b.echo` is a tool of `a.b`.
  for (const server of servers.sort((one, other) => other.length - one.length)) {
    const rest = stripServer(trimmed, server);
    if (rest) return toolId(server, rest);
  }
  const bare = trimmed.startsWith('mcp__') ? trimmed.slice('mcp__'.length) : trimmed;
  const match = /^([A-Za-z0-9][A-Za-z0-9_.-]*?)(?::|__|\/)(.+)$/s.exec(bare) ?? /^([^.]+)\.(.+)$/.exec(bare);
  if (!match?.[1] || !match[2]) {
    throw new PmlError('invalid_id', `"${text}" is not a tool id`, {
      hint: 'Write it as server:tool, for example filesystem:read_file.',
    });
  }
  return toolId(match[1], match[2]);
}

function stripServer(text: string, server: string): string | undefined {
  for (const prefix of [server, `mcp__${server}`]) {
    if (!text.startsWith(prefix)) continue;
    const separator = /^(:|__|\/|\.)(.+)$/.exec(text.slice(prefix.length));
    if (separator?.[2]) return separator[2];
  }
  return undefined;
}

export function splitToolId(id: ToolId): { server: string; tool: string } {
  const at = id.indexOf(':');
  return { server: id.slice(0, at), tool: id.slice(at + 1) };
}

export function capabilityNode(uuid: string): CapabilityNodeId {
  const id = uuid.toLowerCase();
  if (!UUID.test(id)) throw new PmlError('invalid_id', `"${uuid}" is not the id of a capability (a uuid)`);
  return `${CAPABILITY_PREFIX}${id}` as CapabilityNodeId;
}

export function capabilityUuid(node: CapabilityNodeId): string {
  return node.slice(CAPABILITY_PREFIX.length);
}

export function operationId(operation: string): OperationId {
  if (!/^[A-Za-z][A-Za-z0-9_.]*$/.test(operation)) {
    throw new PmlError('invalid_id', `"${operation}" is not an operation`, {
      hint: 'Operations are named like code:filter.',
    });
  }
  return `${OPERATION_PREFIX}${operation}` as OperationId;
}

/** A capability's call name: `capabilities.<slug>(args)`, so it must be a plain identifier. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && text.length <= 64;
}

export function kindOf(node: string): NodeKind {
  if (node.startsWith(CAPABILITY_PREFIX)) return 'capability';
  if (node.startsWith(OPERATION_PREFIX)) return 'operation';
  return 'tool';
}
