import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamClient, UpstreamEvent } from '../../engine/ports.ts';
import type { RunResult } from '../../engine/runs/run.ts';
import { type ClientSubscriptions, isLogLevel, type LogLevels } from './client-subscriptions.ts';
import type { ClientRequest, Endpoint, ServerInfo } from './endpoint.ts';
import { howToSettle } from './meta-tools/meta-tool.ts';
import { invalidParams, methodNotFound, rpcErrorOf, valueIn } from './rpc-error.ts';
import { needsTasks, type TaskOwners, withoutForeignTasks } from './serving/tasks.ts';

const NOBODY = { sessionId: null };

/** `/mcp/servers/<name>`: one server unchanged, with policy and tracing for its tools. */
export function createTransparentEndpoint(
  gateway: Gateway,
  server: string,
  subscriptions: ClientSubscriptions,
  logLevels: LogLevels,
  mirrored: MirroredArguments,
  owners: TaskOwners,
): Endpoint {
  /** The server does the rest, but it does not know the callers apart. */
  const onOwnTask = async (request: ClientRequest): Promise<JsonObject> => {
    const { caller, params, modern } = request;
    if (modern) needsTasks(caller.client);
    if (!owners.owns(caller.who, params.taskId)) throw invalidParams(`Task ${params.taskId} not found`);
    return await passOn(gateway, server, request);
  };
  const ofOldEra =
    (method: (request: ClientRequest) => Promise<JsonObject>) =>
    async (request: ClientRequest): Promise<JsonObject> => {
      if (request.modern) throw methodNotFound(request.method);
      return await method(request);
    };
  const methods: Readonly<Record<string, (request: ClientRequest) => Promise<JsonObject>>> = {
    'tools/list': async ({ caller }) => ({ tools: valueIn(await gateway.rawTools(server, caller)) }),
    'tools/call': async (request) => {
      const name = String(request.params.name);
      const result = resultOf(await passCall(gateway, { id: `${server}:${name}` }, request, true));
      owners.remember(request.caller.who, result);
      return result;
    },
    'tasks/get': onOwnTask,
    'tasks/cancel': onOwnTask,
    'tasks/update': onOwnTask,
    'tasks/result': ofOldEra(onOwnTask),
    'tasks/list': ofOldEra(async (request) => {
      const listed = await passOn(gateway, server, request);
      const tasks = Array.isArray(listed.tasks) ? (listed.tasks as readonly JsonObject[]) : [];
      return { ...listed, tasks: tasks.filter(({ taskId }) => owners.owns(request.caller.who, taskId)) };
    }),
    'resources/subscribe': async (request) => {
      const result = await passOn(gateway, server, request);
      subscriptions.watch(request.caller.client.id, String(request.params.uri));
      return result;
    },
    'resources/unsubscribe': async (request) => {
      subscriptions.unwatch(request.caller.client.id, String(request.params.uri));
      return await passOn(gateway, server, request);
    },
    'logging/setLevel': async (request) => {
      const { level } = request.params;
      if (isLogLevel(level)) subscriptions.setLevel(request.caller.client.id, level);
      return await passOn(gateway, server, request);
    },
  };
  return {
    serverInfo: async (_who, modern) => {
      const { capabilities, ...identity } = valueIn(await gateway.identity(server, NOBODY));
      return serverInfoOf(server, { ...identity, capabilities: withoutForeignTasks(capabilities, modern) });
    },
    handle: (request) =>
      logLevels.during(server, request, async () => {
        const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
        return await (method ? method(request) : passOn(gateway, server, request));
      }),
    hear: (method, params, who) => void gateway.notify(server, method, params, who.user),
    mirroredSchema: (tool) => mirrored.schemaOf(tool),
    watch: (client, uris, who) => watch(gateway, server, client, uris, who),
    forget: (clientId) => {
      subscriptions.forget(clientId);
      void gateway.forgetClient(clientId);
    },
  };
}

function serverInfoOf(
  server: string,
  { info, capabilities, instructions }: Omit<ServerInfo, 'info'> & { info: JsonObject | null },
): ServerInfo {
  return { info: { name: server, version: '0', ...info }, capabilities, instructions };
}

async function passOn(gateway: Gateway, server: string, request: ClientRequest): Promise<JsonObject> {
  const { method, params, retry, meta, caller, modern } = request;
  return valueIn(await gateway.request(server, method, { ...params, ...retry }, caller, meta, modern));
}

/** Calls a server's tool as its own client would, through policy and trace. */
export function passCall(
  gateway: Gateway,
  { id }: { readonly id: string },
  request: ClientRequest,
  /** As if the client were attached to the server: refusing a tool that is not listed, and tasks, are its business. */
  isTransparent = false,
): Promise<RunResult> {
  const { name: _, arguments: args, task, ...rest } = request.params;
  const call = {
    tool: id,
    arguments: (args ?? {}) as JsonObject,
    meta: request.meta,
    extraParams: { ...rest, ...(isTransparent && task !== undefined && { task }), ...request.retry },
    // A client of the same era answers the server's questions directly.
    passInputRequired: request.modern,
    passTask: isTransparent && request.modern,
    evenIfUnlisted: isTransparent,
  };
  return gateway.executeTool(call, request.caller);
}

/** The server's own result or error; a call that did not reach it is returned as a failed tool. */
export function resultOf(run: RunResult): JsonObject {
  if (run.toolResult) return run.toolResult;
  if (run.error?.rpc) throw rpcErrorOf(run.error);
  const text =
    run.status === 'approval_required' ? waiting(run) : [run.error?.message, run.error?.hint].join('\n');
  return { content: [{ type: 'text', text: text.trim() }], isError: true };
}

function waiting({ runId, approvals: [approval] }: RunResult): string {
  const { approve, always, reject, by } = howToSettle(runId);
  return `This call needs approval (${approval?.reason}). ${by} To approve: ${approve}; for later calls too: ${always}; to reject: ${reject}. Once approved, make the same call again.`;
}

async function watch(
  gateway: Gateway,
  server: string,
  client: UpstreamClient,
  uris: readonly string[],
  who: Principal,
): Promise<readonly string[]> {
  const caller = { sessionId: null, client, who };
  const replies = await Promise.all(
    uris.map((uri) => gateway.request(server, 'resources/subscribe', { uri }, caller)),
  );
  return uris.filter((_, at) => replies[at]?.ok);
}

const MARK = '"x-mcp-header"';

/**
 * Tools of a server with arguments that 2026-07-28 clients mirror in HTTP headers (SEP-2243), which must
 * match.
 */
export class MirroredArguments {
  readonly #gateway: Gateway;
  readonly #server: string;
  #schemas: Promise<ReadonlyMap<string, JsonObject>> | null = null;

  constructor(gateway: Gateway, server: string) {
    this.#gateway = gateway;
    this.#server = server;
  }

  /** The tool's input schema; null if it mirrors no argument. */
  async schemaOf(tool: string): Promise<JsonObject | null> {
    this.#schemas ??= this.#read();
    return (await this.#schemas).get(tool) ?? null;
  }

  hear(event: UpstreamEvent): void {
    const isChange = event.type === 'state' || event.method === 'notifications/tools/list_changed';
    if (event.server === this.#server && isChange) this.#schemas = null;
  }

  async #read(): Promise<ReadonlyMap<string, JsonObject>> {
    const tools = await this.#gateway.rawTools(this.#server, { sessionId: null });
    const schemas = (tools.ok ? tools.value : []).map((tool) => [tool.name, tool.inputSchema] as const);
    const mirrored = schemas.filter(([, schema]) => JSON.stringify(schema ?? {}).includes(MARK));
    return new Map(mirrored as [string, JsonObject][]);
  }
}
