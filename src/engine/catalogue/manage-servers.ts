import {
  canonicalJson,
  type DefinitionChange,
  definitionChanges,
  fieldChanges,
} from '../../core/policy/call-hash.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Caller } from '../caller.ts';
import { judge } from '../calls/call-tool.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { recordAccepted } from '../people/audit-trail.ts';
import { hidesTools, mayReach, mayUseTool } from '../people/roles.ts';
import type {
  JsonObject,
  ServerSettings,
  Settings,
  UpstreamEvent,
  UpstreamIdentity,
  UpstreamLogin,
  UpstreamReply,
  UpstreamTool,
  UserCredentials,
} from '../ports.ts';

import {
  type AbsentServer,
  type Catalogue,
  catalogueFor,
  isOffered,
  type LiveCatalogue,
} from './catalogue.ts';
import { type ServerReport, serverReports } from './inventory.ts';
import { acceptedIdentity, asListed, defineTool } from './refresh-catalogue.ts';

/** Pass-through of everything that is not a tool call, and what people do with servers. */
export interface ServerService {
  /** Those that the caller may reach, with the tools that it may use. */
  servers(caller?: Pick<Caller, 'who'>): Promise<ServerReport[]>;
  /** Servers whose tools are not known, and why. */
  absentServers(caller?: Pick<Caller, 'who'>): Promise<readonly AbsentServer[]>;
  request(
    server: string,
    method: string,
    params: JsonObject,
    caller: Caller,
    meta?: JsonObject,
    /** Hands an `input_required` result back as it is, instead of asking the caller's client. */
    passInputRequired?: boolean,
  ): Promise<UpstreamReply<JsonObject>>;
  /** One-way, from a client of this user. */
  notify(server: string, method: string, params: JsonObject, user: string): Promise<boolean>;
  identity(server: string, caller: Caller): Promise<UpstreamReply<UpstreamIdentity>>;
  /** The server's own tool list, for its transparent endpoint: include/exclude applied, fields untouched. */
  rawTools(server: string, caller: Caller): Promise<UpstreamReply<readonly UpstreamTool[]>>;
  /**
   * All tools as accepted that the caller may use, less those that never run; waits a while for servers that were never listed. The same list
   * as long as nothing changed.
   */
  offeredTools(caller?: Pick<Caller, 'who'>): Promise<readonly ToolDefinition[]>;
  onUpstream(listener: (event: UpstreamEvent) => void): () => void;
  forgetClient(clientId: string): Promise<void>;
  /** What a server says of itself and its tools that nobody has accepted yet. */
  changesOfServer(server: string): Promise<ServerChanges>;
  /** By a person who was shown the changes of this hash. */
  acceptServer(server: string, by: string, hash: string): Promise<ServerChanges>;
  /** Stops it, starts it and lists its tools. */
  restart(server: string): Promise<UpstreamReply<UpstreamIdentity>>;
  logs(server: string): readonly string[];
  login(server: string, redirectUrl: string, user?: string): Promise<UpstreamReply<UpstreamLogin>>;
  /** What one user reaches a server with; null: forgotten. */
  keepCredentials(
    server: string,
    user: string,
    credentials: UserCredentials | null,
  ): Promise<UpstreamReply<null>>;
}

/** What clients and people do with upstream servers besides calling their tools. */
export function manageServers(
  ports: FlowPorts,
  catalogue: LiveCatalogue,
  settings: () => Settings,
): ServerService {
  const { store, upstream } = ports;

  /** As a person has accepted it: a model reads what it is shown here. A tool that is new is accepted as it is. */
  const asAccepted = (server: ServerSettings, tool: UpstreamTool): UpstreamTool => {
    const now = defineTool(server, tool, ports.crypto);
    const accepted = catalogue.current().get(now.id)?.tool;
    if (!accepted || accepted.definitionHash === now.definitionHash) return tool;
    return { ...asListed(accepted), name: tool.name };
  };
  const offered = new WeakMap<Catalogue, { by: Settings; tools: readonly ToolDefinition[] }>();
  const known = (server: string) => configured(settings(), server);

  return {
    async servers({ who } = {}) {
      const reached = upstream.servers().filter(({ name }) => mayReach(who, name));
      const records = await store.servers.list();
      const words = new Map(records.map(({ name, identity }) => [name, identity.instructions]));
      return serverReports(reached, catalogueFor(catalogue.current(), who?.scope), words);
    },
    absentServers: catalogue.absent,
    async request(server, method, params, caller, meta, passInputRequired) {
      if (!mayReach(caller.who, server)) return outOfReach(caller.who!, server);
      return await upstream.request(server, method, params, {
        ...(caller.signal && { signal: caller.signal }),
        ...(caller.onProgress && { onProgress: caller.onProgress }),
        ...(caller.client && { client: caller.client }),
        ...(caller.who && { user: caller.who.user }),
        ...(caller.sessionId !== null && { session: caller.sessionId }),
        ...(meta && { meta }),
        ...(passInputRequired && { passInputRequired }),
      });
    },
    notify: (server, method, params, user) => upstream.notify(server, method, params, user),
    async identity(server, { signal }) {
      const started = await upstream.start(server, signal && { signal });
      const record = (await store.servers.list()).find(({ name }) => name === server);
      if (!started.ok || !record) return started;
      return { ok: true, value: acceptedIdentity(started.value, record.identity) };
    },
    async rawTools(server, { signal, who }) {
      const listed = await upstream.catalogue(server, signal && { signal });
      if (!listed.ok) return listed;
      const rules = settings().servers.find(({ name }) => name === server);
      if (!rules) return { ok: true, value: [] };
      const own = listed.value.filter((tool) => isOffered(tool, { ...rules, rename: {} }));
      const seen = hidesTools(who?.scope)
        ? own.filter((tool) => mayUseTool(who?.scope, defineTool(rules, tool, ports.crypto).id))
        : own;
      return { ok: true, value: seen.map((tool) => asAccepted(rules, tool)) };
    },
    async offeredTools({ who } = {}) {
      await catalogue.complete();
      const [from, by] = [catalogueFor(catalogue.current(), who?.scope), settings()];
      const known = offered.get(from);
      if (known?.by === by) return known.tools;
      const tools = from.entries
        .filter((entry) => judge(by, entry).action !== 'deny')
        .map(({ tool }) => tool);
      offered.set(from, { by, tools });
      return tools;
    },
    onUpstream: (listener) => upstream.subscribe(listener),
    forgetClient: (clientId) => upstream.forgetClient(clientId),
    changesOfServer: (server) => changesOfServer({ ports, catalogue }, known(server)),
    acceptServer: (server, by, hash) => acceptServer({ ports, catalogue }, known(server), by, hash),
    async restart(server) {
      const restarted = await upstream.restart(known(server));
      if (restarted.ok) await catalogue.refresh(server);
      return restarted;
    },
    logs: (server) => upstream.logs(known(server)).map((line) => String(ports.redact(line))),
    login: (server, redirectUrl, user) => upstream.login(known(server), redirectUrl, user),
    keepCredentials: (server, user, credentials) => upstream.keep(known(server), user, credentials),
  };
}

function outOfReach({ name }: Principal, server: string): Extract<UpstreamReply<never>, { ok: false }> {
  const message = `Server "${server}" is outside what key "${name}" may use`;
  return { ok: false, error: { code: 'forbidden', errorType: 'PERMISSION', message } };
}

function configured(settings: Settings, server: string): string {
  if (settings.servers.some(({ name }) => name === server)) return server;
  const names = settings.servers.map(({ name }) => name).join(', ');
  throw new PmlError('not_found', `Server ${server} not found`, {
    hint: names === '' ? 'None are configured.' : `There are: ${names}.`,
  });
}

/** What a server says of itself and its tools that nobody has accepted yet. */
export interface ServerChanges {
  /** Of the server's own words: `instructions` and fields of its name. */
  readonly words: readonly DefinitionChange[];
  readonly tools: readonly { readonly tool: string; readonly changes: readonly DefinitionChange[] }[];
  /** Names exactly these changes. */
  readonly hash: string;
}

interface AcceptScope {
  readonly ports: FlowPorts;
  readonly catalogue: LiveCatalogue;
}

/** Starts the server and lists its tools again; fails if it cannot be started or listed. */
async function changesOfServer(scope: AcceptScope, server: string): Promise<ServerChanges> {
  const { now, known } = await faces(scope, server);
  const listed = await scope.ports.upstream.catalogue(server);
  if (!listed.ok) throw asError(listed.error);
  await scope.catalogue.refresh(server);
  const words = known ? wordChanges(known.identity, now) : [];
  const tools = proposedOf(scope, server).map(({ tool, proposed }) => ({
    tool: tool.id as string,
    changes: definitionChanges(tool, proposed),
  }));
  return { words, tools, hash: scope.ports.crypto.sha256(canonicalJson([words, tools])) };
}

/** By a person who was shown the changes of this hash; what changed since is not accepted with them. */
async function acceptServer(
  scope: AcceptScope,
  server: string,
  by: string,
  hash: string,
): Promise<ServerChanges> {
  const { ports, catalogue } = scope;
  const changes = await changesOfServer(scope, server);
  if (changes.hash !== hash) {
    throw new PmlError('store_conflict', `"${server}" has changed again in the meantime`, {
      hint: 'Review it again.',
    });
  }
  for (const { proposed } of proposedOf(scope, server)) {
    await recordAccepted(ports, proposed, { by });
    await catalogue.accept(proposed);
  }
  const { now, known } = await faces(scope, server);
  if (known) await ports.store.servers.put({ ...known, identity: now });
  return changes;
}

function proposedOf({ catalogue }: AcceptScope, server: string) {
  return catalogue
    .current()
    .entries.flatMap(({ tool, proposed }) =>
      tool.server === server && proposed ? [{ tool, proposed }] : [],
    );
}

async function faces({ ports: { upstream, store } }: AcceptScope, server: string) {
  const started = await upstream.start(server, { isWanted: true });
  if (!started.ok) throw asError(started.error);
  const known = (await store.servers.list()).find(({ name }) => name === server);
  return { now: started.value, known };
}

function asError({ code, message, hint }: ErrorShape): PmlError {
  return new PmlError(code, message, hint === undefined ? {} : { hint });
}

/** A version is a fact, not a word to be accepted. */
function wordChanges(accepted: UpstreamIdentity, now: UpstreamIdentity): DefinitionChange[] {
  const wordsOf = ({ instructions, info }: UpstreamIdentity): Record<string, unknown> => {
    const { version: _, ...name } = info ?? {};
    return { instructions, ...name };
  };
  return fieldChanges(wordsOf(accepted), wordsOf(now));
}
