import { SKILLS_GET_METHOD, SKILLS_LIST_METHOD } from '@modelcontextprotocol/server/ext/skills';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import { nearestName } from '../../engine/catalogue/catalogue.ts';
import { withWarning } from '../../engine/catalogue/inventory.ts';
import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, Logger, UpstreamClient } from '../../engine/ports.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import type { OperationContext } from '../../operations/operation-context.ts';
import { type ClientSubscriptions, LogLevels } from './client-subscriptions.ts';
import type { ClientRequest, Endpoint, RequestCaller, ServerInfo } from './endpoint.ts';
import type { KnownServers } from './known-servers.ts';
import { presentExecute } from './meta-tools/execute.ts';
import { presentExecuteWorkflow } from './meta-tools/execute-workflow.ts';
import {
  type MetaTool,
  metaTool,
  type Present,
  Reading,
  RecentTools,
  readerOf,
  refusal,
  ServerWords,
  type ToolContext,
} from './meta-tools/meta-tool.ts';
import { presentCapabilities, presentSearch, presentSuggestion } from './meta-tools/search-tools.ts';
import type { Listings } from './pass-through/listings.ts';
import { complete, Prompts } from './pass-through/listings.ts';
import { gatewayUri, parseGatewayUri } from './pass-through/resource-uri.ts';
import { KeptResults, Shrink } from './results/kept-results.ts';
import { methodNotFound, rpcErrorOf, valueIn } from './rpc-error.ts';
import { Tasks, tasksCapability } from './serving/tasks.ts';
import { ListedSkills, SKILLS_CAPABILITY, Skills } from './skills/skills.ts';

const COMMON = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};
const CAPABILITIES = { ...COMMON, ...SKILLS_CAPABILITY, ...tasksCapability(false) };
const MODERN_CAPABILITIES = {
  ...COMMON,
  extensions: { ...SKILLS_CAPABILITY.extensions, ...(tasksCapability(true).extensions as JsonObject) },
};

export interface GatewayEndpointParts {
  readonly gateway: Gateway;
  readonly servers: KnownServers;
  readonly listings: Listings;
  readonly subscriptions: ClientSubscriptions;
  readonly logger: Logger;
  readonly info: ServerInfo['info'];
  readonly operations: readonly AnyOperation[];
  readonly context: OperationContext;
  readonly resultBytes?: number;
  /** Milliseconds until a long call becomes a task. */
  readonly patienceMs?: number;
}

export interface GatewayEndpoint extends Endpoint {
  readonly logLevels: LogLevels;
  readonly tasks: Tasks;
}

/** `/mcp`: five tools give access to those of all servers; prompts, resources and the rest pass through. */
export function createGatewayEndpoint(parts: GatewayEndpointParts): GatewayEndpoint {
  const { gateway, servers, listings, subscriptions, logger, info } = parts;
  const results = new KeptResults();
  const logLevels = new LogLevels(gateway, servers, subscriptions);
  const skills = new Skills(new ListedSkills(gateway, logger), gateway, listings);
  const resources = new Resources({ gateway, listings, results, subscriptions, skills });
  const prompts = new Prompts(gateway, listings, servers);
  const recent = new RecentTools();
  const toolContext: ToolContext = {
    gateway,
    context: parts.context,
    results,
    shrink: new Shrink(results, parts.resultBytes),
    recent,
    words: new ServerWords(gateway),
    reading: new Reading(parts.context.reading),
    logLevels,
  };
  const tools = toolList(parts.operations);
  const tasks = new Tasks(parts.patienceMs);

  const methods: Readonly<Record<string, (request: ClientRequest) => Promise<JsonObject>>> = {
    'tools/list': async ({ caller }) => (readsText(caller.client) ? tools.listedForText : tools.listed),
    'tools/call': (request) => {
      const call = (same: ClientRequest) => callTool(tools, toolContext, same, logger);
      if (tools.find(String(request.params.name))?.mayBeTask) return tasks.call(request, call);
      if (!request.modern && request.params.task !== undefined) throw methodNotFound('tools/call as a task');
      return call(request);
    },
    ...tasks.methods,
    'resources/list': (request) => resources.list(request),
    'resources/templates/list': (request) => resources.templates(request),
    'resources/read': (request) => resources.read(request),
    'resources/subscribe': (request) => resources.subscribe(request),
    'resources/unsubscribe': (request) => resources.unsubscribe(request),
    [SKILLS_LIST_METHOD]: (request) => skills.list(request),
    [SKILLS_GET_METHOD]: (request) => skills.get(request),
    'prompts/list': (request) => prompts.list(request),
    'prompts/get': (request) => prompts.get(request),
    'completion/complete': (request) => complete(gateway, prompts, request),
    'logging/setLevel': (request) => logLevels.set(request),
  };
  return {
    logLevels,
    tasks,
    serverInfo: async (who, modern) => ({
      info,
      capabilities: modern ? MODERN_CAPABILITIES : CAPABILITIES,
      instructions: instructions(gateway.inventory({ who })),
    }),
    handle: async (request) => {
      const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
      if (!method) throw methodNotFound(request.method);
      try {
        return await method(request);
      } catch (error) {
        throw error instanceof PmlError ? rpcErrorOf(error.toShape()) : error;
      }
    },
    // Client notifications are not forwarded: none is meant for one server among many.
    hear: () => {},
    mirroredSchema: async () => null,
    watch: (client, uris, who) => resources.watch({ client, who }, uris),
    forget: (clientId) => {
      subscriptions.forget(clientId);
      void gateway.forgetClient(clientId);
    },
  };
}

/** Failures of a tool are returned as its result, where the model sees them. */
async function callTool(
  tools: ToolList,
  toolContext: ToolContext,
  request: ClientRequest,
  logger: Logger,
): Promise<JsonObject> {
  const { name, arguments: args } = request.params;
  const tool = tools.find(String(name));
  const made = async (): Promise<JsonObject> => {
    if (!tool) return refusal(tools.unknown(String(name)));
    try {
      return await tool.call(args, toolContext, request);
    } catch (thrown) {
      const error = PmlError.from(thrown);
      if (error.code === 'internal') logger.log('error', `${tool.name} failed`, { error: error.message });
      return refusal(error.toShape());
    }
  };
  const { structuredContent, ...told } = await made();
  const read = textLength(told.content);
  const isResult = tool?.name === 'pml_execute';
  toolContext.reading.add(readerOf(request.caller), read, isResult ? read : 0);
  return readsText(request.caller.client) ? told : { ...told, structuredContent };
}

function textLength(content: unknown): number {
  const blocks = content as readonly JsonObject[];
  return blocks.reduce((sum, { text }) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/**
 * How the names of agents begin that give a model the structured content of a result instead of its text, or besides
 * it. With text alone they read everything once, and get pictures as pictures.
 */
const AGENTS = [
  'claude',
  'codex',
  'visual studio code',
  'vscode',
  'github-copilot',
  'cursor',
  'gemini',
  'antigravity',
  'windsurf',
  'cline',
  'roo',
  'kilo',
  'zed',
  'goose',
  'opencode',
  'qwen',
  'ai-sdk',
];

/** Whether a client's reader is a model; it may say otherwise with the experimental capabilities `pml/data` and `pml/text`. */
function readsText({ info, capabilities }: Pick<UpstreamClient, 'info' | 'capabilities'>): boolean {
  const said = (capabilities.experimental ?? {}) as JsonObject;
  if (said['pml/data'] !== undefined || said['pml/text'] !== undefined) return said['pml/data'] === undefined;
  const name = String(info?.name ?? '')
    .slice(0, 100)
    .toLowerCase();
  return AGENTS.some((agent) => name.startsWith(agent));
}

/** By operation. */
const PRESENT: Readonly<Record<string, Present<never>>> = {
  search_tools: presentSearch,
  search_capabilities: presentCapabilities,
  suggest: presentSuggestion,
  execute: warned(presentExecute),
  execute_workflow: warned(presentExecuteWorkflow),
};

/** What tools gave may speak to the model. */
function warned<T>(present: Present<T>): Present<T> {
  return async (...given) => withWarning(await present(...given));
}

interface ToolList {
  /**
   * The same object on every call, so that prompts stay cached: it does not depend on attached servers or
   * learning.
   */
  readonly listed: JsonObject;
  /** The same for clients that get no structured content. */
  readonly listedForText: JsonObject;
  /** Accepts `pml_search_tools`, and also `pml:search_tools`, `pml.search_tools` and `search_tools`. */
  find(name: string): MetaTool | null;
  unknown(name: string): ErrorShape;
}

/** The operations that are tools. */
function toolList(operations: readonly AnyOperation[]): ToolList {
  const tools = operations
    .flatMap((operation) => (operation.mcp ? [{ operation, mcp: operation.mcp }] : []))
    .toSorted((one, other) => one.mcp.place - other.mcp.place)
    .map(({ operation, mcp }) => metaTool(operation, mcp, PRESENT[operation.name]));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    listed: { tools: tools.map(({ listed }) => listed) },
    listedForText: { tools: tools.map(({ listedForText }) => listedForText) },
    find(name) {
      const plain = name.trim().replace(/[:./]/g, '_');
      return byName.get(plain) ?? byName.get(`pml_${plain}`) ?? null;
    },
    unknown: (name) => unknownTool(name, [...byName.keys()]),
  };
}

function unknownTool(name: string, names: readonly string[]): ErrorShape {
  const nearest = nearestName(name, names);
  return {
    code: 'not_found',
    message: `Unknown tool "${name}"${nearest === null ? '' : `; did you mean ${nearest}?`}`,
    hint: `To run a tool of an attached server, use pml_execute: {"tool": "${name}", "arguments": {…}}.`,
  };
}

/** What a model reads about the gateway before it sees the tools. */
function instructions(inventory: string): string {
  return [
    `PML gives you the tools of many servers. Attached: ${inventory}`,
    '1. Search: call pml_search_tools with what you want to do.',
    '2. Execute: call pml_execute with a tool id and arguments, and intent. For several calls or to process data, give code.',
    'Before a job of several steps, try pml_search_capabilities: a proven routine does it in one call.',
    'Never say that you lack a tool before searching.',
    'approval_required: a person decides. Tell the user which call and how to approve it, then resume.',
    'The rest of a cut result: pml://results/ID, or pml_execute {"tool": "pml:read_result", "arguments": {"id", "offset"}}.',
  ].join('\n');
}

type WatchingCaller = Pick<RequestCaller, 'client' | 'who'>;

export interface ResourceParts {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly results: KeptResults;
  readonly subscriptions: ClientSubscriptions;
  readonly skills: Skills;
}

/** The resources of every server as `pml://<server>/<uri>`, oversized results, and skills. */
class Resources {
  readonly #gateway: Gateway;
  readonly #listings: Listings;
  readonly #results: KeptResults;
  readonly #subscriptions: ClientSubscriptions;
  readonly #skills: Skills;

  constructor(parts: ResourceParts) {
    this.#gateway = parts.gateway;
    this.#listings = parts.listings;
    this.#results = parts.results;
    this.#subscriptions = parts.subscriptions;
    this.#skills = parts.skills;
  }

  async list({ params, caller }: ClientRequest): Promise<JsonObject> {
    const page = await this.#listings.page('resources', 'resources/list', 'resources', params.cursor, caller);
    const own = params.cursor === undefined ? await this.#skills.manifests(caller) : [];
    const passed = page.items.map(({ server, item }) => ({
      ...item,
      uri: gatewayUri(server, String(item.uri)),
    }));
    const resources = [...own, ...passed];
    return { resources, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }

  async templates({ params, caller }: ClientRequest): Promise<JsonObject> {
    const [method, field] = ['resources/templates/list', 'resourceTemplates'] as const;
    const page = await this.#listings.page('resources', method, field, params.cursor, caller);
    const own = params.cursor === undefined ? [this.#skills.template()] : [];
    const passed = page.items.map(({ server, item }) => ({
      ...item,
      uriTemplate: gatewayUri(server, String(item.uriTemplate)),
    }));
    const resourceTemplates = [...own, ...passed];
    return { resourceTemplates, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }

  async read({ params, meta, caller }: ClientRequest): Promise<JsonObject> {
    const own = await this.#skills.read(params.uri, caller);
    if (own) return own;
    const named = parseGatewayUri(params.uri);
    if ('result' in named) return { contents: [this.#results.contents(named.result)] };
    const { server, uri } = named;
    const sent = { ...params, uri };
    const read = valueIn(await this.#gateway.request(server, 'resources/read', sent, caller, meta));
    const contents = ((read.contents ?? []) as readonly JsonObject[]).map((part) =>
      typeof part.uri === 'string' ? { ...part, uri: gatewayUri(server, part.uri) } : part,
    );
    return { ...read, contents };
  }

  async subscribe({ params, caller }: ClientRequest): Promise<JsonObject> {
    await this.#watch(caller, String(params.uri));
    return {};
  }

  async unsubscribe({ params, caller }: ClientRequest): Promise<JsonObject> {
    const named = parseGatewayUri(params.uri);
    this.#subscriptions.unwatch(caller.client.id, String(params.uri));
    // A stored result never changes, so a subscription does nothing.
    if ('result' in named) return {};
    const { server, uri } = named;
    return valueIn(await this.#gateway.request(server, 'resources/unsubscribe', { uri }, caller));
  }

  /** Which of these resources can be watched. */
  async watch(caller: WatchingCaller, uris: readonly string[]): Promise<readonly string[]> {
    const granted = await Promise.all(
      uris.map((uri) =>
        this.#watch(caller, uri).then(
          () => uri,
          () => null,
        ),
      ),
    );
    return granted.filter((uri) => uri !== null);
  }

  /** If each user has their own connection to the server, that one is used. */
  async #watch({ client, who }: WatchingCaller, uri: string): Promise<void> {
    const named = parseGatewayUri(uri);
    if (!('result' in named)) {
      const caller = { sessionId: null, client, who };
      const asked = { uri: named.uri };
      valueIn(await this.#gateway.request(named.server, 'resources/subscribe', asked, caller));
    }
    this.#subscriptions.watch(client.id, uri);
  }
}
