import { canonicalJson } from '../../core/policy/call-hash.ts';
import { toolId } from '../../core/vocabulary/ids.ts';
import type { ToolAnnotations, ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type {
  Clock,
  Crypto,
  EventSink,
  Logger,
  ServerSettings,
  Store,
  Upstream,
  UpstreamIdentity,
  UpstreamTool,
} from '../ports.ts';

export interface RefreshPorts {
  readonly upstream: Upstream;
  readonly store: Pick<Store, 'tools' | 'servers'>;
  readonly crypto: Crypto;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly logger: Logger;
}

/**
 * Lists a server's tools and brings the store up to date: new ones are accepted, one that differs
 * from what was accepted is proposed and never silently takes its place, one that is gone is retired.
 * Answers whether anything changed; a server that cannot be listed changes nothing.
 */
export async function refreshCatalogue(ports: RefreshPorts, server: ServerSettings): Promise<boolean> {
  const { upstream, store, crypto, clock, events, logger } = ports;
  const started = await upstream.start(server.name);
  const listed = started.ok ? await upstream.catalogue(server.name) : started;
  if (!started.ok || !listed.ok) {
    const error = (started.ok ? listed : started) as { error: { message: string } };
    logger.log('warn', `The tools of ${server.name} cannot be listed`, { error: error.error.message });
    return false;
  }
  const definitions = listed.value.map((tool) => defineTool(server.name, tool, crypto));
  const change = await compare(store, server.name, definitions);
  await store.tools.put(change.accept);
  await store.tools.propose(change.propose);
  await store.tools.retire(change.retire.map((tool) => tool.id));
  const hash = settingsHash(server, crypto);
  const known = (await store.servers.list()).find(({ name }) => name === server.name);
  await store.servers.put({
    name: server.name,
    settingsHash: hash,
    // What a server says of itself is accepted once, like its tools; other settings may mean another server.
    identity: known?.settingsHash === hash ? acceptedIdentity(started.value, known.identity) : started.value,
    refreshedAt: clock.now(),
  });
  const changed = change.accept.length + change.propose.length + change.retire.length > 0;
  if (changed) {
    events.emit({
      type: 'catalogue_changed',
      server: server.name,
      added: change.accept.map((tool) => tool.id),
      removed: change.retire.map((tool) => tool.id),
      changed: change.propose.map((tool) => tool.id),
    });
  }
  return changed;
}

/** A server as it is now, with the words about itself that were accepted: clients put them before their model. */
export function acceptedIdentity(now: UpstreamIdentity, accepted: UpstreamIdentity): UpstreamIdentity {
  const version = now.info && 'version' in now.info ? { version: now.info.version } : {};
  return {
    ...now,
    instructions: accepted.instructions,
    info: accepted.info && { ...accepted.info, ...version },
  };
}

/** Of what decides which tools there are; secrets and limits do not. */
export function settingsHash(server: ServerSettings, crypto: Crypto): string {
  const facts =
    server.transport === 'stdio'
      ? [server.command, server.args, server.cwd, Object.keys(server.env)]
      : [server.transport, server.url];
  return crypto.sha256(canonicalJson(facts));
}

interface Change {
  readonly accept: ToolDefinition[];
  readonly propose: ToolDefinition[];
  readonly retire: ToolDefinition[];
}

async function compare(
  store: RefreshPorts['store'],
  server: string,
  definitions: readonly ToolDefinition[],
): Promise<Change> {
  const [present, proposals] = await Promise.all([store.tools.list(server), store.tools.proposed()]);
  const accepted = new Map(present.map((tool) => [tool.id, tool]));
  const waiting = new Map(proposals.map((tool) => [tool.id, tool.definitionHash]));
  const change: Change = { accept: [], propose: [], retire: [] };
  for (const definition of definitions) {
    const known = accepted.get(definition.id) ?? (await store.tools.get(definition.id));
    const isPresent = accepted.has(definition.id);
    if (!known) change.accept.push(definition);
    else if (known.definitionHash === definition.definitionHash) {
      // Back after it was gone, or back to what was accepted: nothing is left to decide.
      if (!isPresent || waiting.has(definition.id)) change.accept.push(definition);
    } else if (waiting.get(definition.id) !== definition.definitionHash) change.propose.push(definition);
  }
  const listed = new Set(definitions.map((definition) => definition.id));
  change.retire.push(...present.filter((tool) => !listed.has(tool.id)));
  return change;
}

/** Normalises what a server lists to PML's form, with the hash that pins all of it. */
export function defineTool(server: string, tool: UpstreamTool, crypto: Crypto): ToolDefinition {
  const { name, description: said, inputSchema, outputSchema, annotations, ...otherFields } = tool;
  const description = typeof said === 'string' ? said : '';
  const facts = {
    name,
    description,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(isObject(annotations) && { annotations: annotations as ToolAnnotations }),
    ...(Object.keys(otherFields).length > 0 && { otherFields }),
  };
  return {
    id: toolId(server, name),
    server,
    ...facts,
    definitionHash: crypto.sha256(canonicalJson(facts)),
  };
}

/** A definition as its server would list it. */
export function asListed(definition: ToolDefinition): UpstreamTool {
  const { name, description, inputSchema, outputSchema, annotations, otherFields } = definition;
  return {
    name,
    ...(description !== '' && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations && { annotations }),
    ...otherFields,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
