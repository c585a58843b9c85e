import { canonicalJson } from '../../core/policy/call-hash.ts';
import { toolId } from '../../core/vocabulary/ids.ts';
import type { ToolAnnotations, ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type {
  Clock,
  Crypto,
  GatewayEvent,
  Logger,
  ServerSettings,
  Store,
  Upstream,
  UpstreamIdentity,
  UpstreamTool,
} from '../ports.ts';

/** To be told once the catalogue has been read again: who hears of it looks at once. */
type CatalogueChange = Extract<GatewayEvent, { type: 'catalogue_changed' }>;

export interface RefreshPorts {
  readonly upstream: Upstream;
  readonly store: Pick<Store, 'tools' | 'servers'>;
  readonly crypto: Crypto;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Lists a server's tools and brings the store up to date: new ones are accepted, one that differs
 * from what was accepted is proposed and never silently takes its place, one that is gone is retired.
 * A server that cannot be listed changes nothing. `isWanted`: somebody waits for it, so it is started also during its
 * backoff.
 */
export async function refreshCatalogue(
  ports: RefreshPorts,
  server: ServerSettings,
  isWanted = false,
): Promise<CatalogueChange | 'unchanged' | { readonly failed: string }> {
  const { upstream, store, crypto, clock, logger } = ports;
  const started = await upstream.start(server.name, { isWanted });
  const listed = started.ok ? await upstream.catalogue(server.name) : started;
  if (!started.ok || !listed.ok) {
    const error = (started.ok ? listed : started) as { error: { message: string } };
    // A server that did not start has said so already.
    logger.log(started.ok ? 'warn' : 'debug', `The tools of ${server.name} cannot be listed`, {
      error: error.error.message,
    });
    return { failed: error.error.message };
  }
  // With names of the configuration, two tools may have become one.
  const byId = new Map(
    listed.value.map((tool) => defineTool(server, tool, crypto)).map((one) => [one.id, one]),
  );
  const definitions = [...byId.values()];
  if (definitions.length < listed.value.length)
    logger.log('warn', `Several tools of ${server.name} have the same name: the last one is used`);
  const change = await compare(store, server, definitions);
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
  if (change.accept.length + change.propose.length + change.retire.length === 0) return 'unchanged';
  return {
    type: 'catalogue_changed',
    server: server.name,
    added: change.accept.map((tool) => tool.id),
    removed: change.retire.map((tool) => tool.id),
    changed: change.propose.map((tool) => tool.id),
  };
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
  const facts = factsOf(server);
  const { rename, describe } = server;
  const words = rename || describe ? [rename ?? {}, describe ?? {}] : [];
  return crypto.sha256(canonicalJson([...facts, ...words]));
}

function factsOf(server: ServerSettings): unknown[] {
  switch (server.transport) {
    case 'stdio':
      return [server.command, server.args, server.cwd, Object.keys(server.env)];
    case 'openapi':
      return [server.transport, server.document, server.url, server.origins];
    default:
      return [server.transport, server.url];
  }
}

interface Change {
  readonly accept: ToolDefinition[];
  readonly propose: ToolDefinition[];
  readonly retire: ToolDefinition[];
}

async function compare(
  store: RefreshPorts['store'],
  server: ServerSettings,
  definitions: readonly ToolDefinition[],
): Promise<Change> {
  const [present, proposals] = await Promise.all([store.tools.list(server.name), store.tools.proposed()]);
  const accepted = new Map(present.map((tool) => [tool.id, tool]));
  const waiting = new Map(proposals.map((tool) => [tool.id, tool.definitionHash]));
  const change: Change = { accept: [], propose: [], retire: [] };
  for (const definition of definitions) {
    const known = accepted.get(definition.id) ?? (await store.tools.get(definition.id));
    const isPresent = accepted.has(definition.id);
    if (!known) change.accept.push(definition);
    else if (known.definitionHash === definition.definitionHash) {
      // Back after it was gone, or back to what was accepted: nothing is left to decide.
      const isOther = canonicalJson(asListed(known)) !== canonicalJson(asListed(definition));
      if (!isPresent || waiting.has(definition.id) || isOther) change.accept.push(definition);
    } else if (isOurWord(server, known, definition)) change.accept.push(definition);
    else if (waiting.get(definition.id) !== definition.definitionHash) change.propose.push(definition);
  }
  const listed = new Set(definitions.map((definition) => definition.id));
  change.retire.push(...present.filter((tool) => !listed.has(tool.id)));
  return change;
}

/** What the settings say of a server's tools. */
type NamedTools = Pick<ServerSettings, 'name' | 'rename' | 'describe' | 'folders'>;

/** Whether they differ in nothing but a description that the owner of the configuration wrote. */
function isOurWord(server: ServerSettings, known: ToolDefinition, now: ToolDefinition): boolean {
  if (!Object.hasOwn(server.describe ?? {}, ownName(server, now.name))) return false;
  return canonicalJson({ ...known, ...SAME }) === canonicalJson({ ...now, ...SAME });
}

const SAME = { description: '', definitionHash: '' };

/** What a server itself calls a tool. */
export function ownName({ rename = {} }: Pick<ServerSettings, 'rename'>, name: string): string {
  return Object.entries(rename).find(([, given]) => given === name)?.[0] ?? name;
}

/**
 * Normalises what a server lists to PML's form, with the names and descriptions of the configuration, and with the hash
 * that pins all of it but what changes by itself.
 */
export function defineTool(server: NamedTools, tool: UpstreamTool, crypto: Crypto): ToolDefinition {
  const { name: own, description: said, inputSchema, outputSchema, annotations, ...otherFields } = tool;
  const name = server.rename?.[own] ?? own;
  const description = server.describe?.[own] ?? (typeof said === 'string' ? said : '');
  const facts = {
    name,
    description,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(isObject(annotations) && { annotations: annotations as ToolAnnotations }),
    ...(Object.keys(otherFields).length > 0 && { otherFields }),
  };
  return {
    id: toolId(server.name, name),
    server: server.name,
    ...facts,
    definitionHash: crypto.sha256(steadyText(canonicalJson(facts), server)),
  };
}

/**
 * Without what differs from start to start in some descriptions: the folder that the server runs in, dates and times.
 * Only these exact folders: another path may be what an attacker wants read.
 */
function steadyText(text: string, { folders = [] }: NamedTools): string {
  const named = folders.toSorted((one, other) => other.length - one.length);
  let steady = text;
  for (const folder of named) {
    const quoted = JSON.stringify(folder).slice(1, -1);
    if (quoted.length >= DEFAULTS.folderLength) steady = steady.replaceAll(quoted, '<folder>');
  }
  return steady.replace(DATE, '<date>').replace(TIME, '<time>');
}

const DEFAULTS = {
  /** Shorter ones, such as `/`, stand in too many texts. */
  folderLength: 4,
};
const DATE = /\b\d{4}-\d\d-\d\d(?!\d)/g;
const TIME = /\bT?\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z?\b/g;

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
