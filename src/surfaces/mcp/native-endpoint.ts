import { parseToolId, splitToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import { nearestName, toolWarning } from '../../engine/catalogue/catalogue.ts';
import { withWarning } from '../../engine/catalogue/inventory.ts';
import { asListed } from '../../engine/catalogue/refresh-catalogue.ts';
import type { Caller, Gateway } from '../../engine/gateway.ts';
import type { JsonObject } from '../../engine/ports.ts';
import type { ClientRequest, Endpoint } from './endpoint.ts';
import type { GatewayEndpoint } from './gateway-endpoint.ts';
import { refusal } from './meta-tools/meta-tool.ts';
import { shortened } from './pass-through/listings.ts';
import { throughGateway, withGatewayView } from './pass-through/resource-uri.ts';
import { passCall, resultOf } from './transparent-endpoint.ts';

/** What model APIs accept as the name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface NativeParts {
  readonly gateway: Gateway;
  /** Everything but tools is as on `/mcp`. */
  readonly endpoint: GatewayEndpoint;
  /** The tools of `/mcp` are listed, too. */
  readonly withMeta: boolean;
  /** The input schema of a server's tool whose arguments clients mirror in headers. */
  mirroredSchema(server: string, tool: string): Promise<JsonObject | null>;
}

/** `/mcp/all`: the tools of all servers as they are, for clients that search and check tools themselves. */
export function createNativeEndpoint(parts: NativeParts): Endpoint {
  const { gateway, endpoint, withMeta } = parts;
  const named = new WeakMap<readonly ToolDefinition[], ReadonlyMap<string, ToolDefinition>>();

  const current = async (caller: Pick<Caller, 'who'>) => {
    const offered = await gateway.offeredTools(caller);
    const tools = named.get(offered) ?? namedTools(offered);
    named.set(offered, tools);
    return tools;
  };
  /**
   * Clients that know another spelling of ids, from `/mcp` or a trace, may use it. The view of an app calls its server's
   * tools by their own names, which are enough where only one server has them.
   */
  const find = async (name: string, caller: Caller): Promise<ToolDefinition | undefined> => {
    const known = await current(caller);
    const found = known.get(name);
    if (found) return found;
    if (!name.includes(':')) {
      const [tool, other] = [...known.values()].filter((each) => each.name === name);
      return other ? undefined : tool;
    }
    const servers = gateway.settings().servers.map((server) => server.name);
    const id: ToolId = parseToolId(name, servers);
    return [...known.values()].find((tool) => tool.id === id);
  };

  const list = async (request: ClientRequest): Promise<JsonObject> => {
    const own = withMeta ? ((await endpoint.handle(request)).tools as readonly JsonObject[]) : [];
    const passed = [...(await current(request.caller))].map(([name, tool]) => {
      // Whatever the server says: PML waits for a tool that its server runs as a task, and makes a task of any other.
      const { execution: _, ...definition } = asListed(tool);
      const execution = !request.modern && { execution: { taskSupport: 'optional' } };
      const warning = toolWarning(tool);
      const description = warning !== null && { description: `${warning}\n${tool.description}` };
      return { ...withGatewayView(tool.server, definition), ...execution, name, ...description };
    });
    return { tools: [...own, ...passed] };
  };

  const call = async (request: ClientRequest): Promise<JsonObject> => {
    const name = String(request.params.name);
    const tool = await find(name, request.caller);
    if (!tool)
      return withMeta && name.startsWith('pml')
        ? await endpoint.handle(request)
        : await unknown(name, request.caller);
    return await endpoint.tasks.call(request, (same) => passed(tool, same));
  };

  const passed = async (tool: ToolDefinition, request: ClientRequest): Promise<JsonObject> => {
    const { server } = tool;
    const result = await endpoint.logLevels.during(server, request, async () =>
      resultOf(await passCall(gateway, tool, request)),
    );
    const { content } = result;
    if (!Array.isArray(content)) return result;
    return withWarning({
      ...result,
      content: content.map((block: JsonObject) => throughGateway(server, block)),
    });
  };

  /** Returned as a failed tool, where the model sees it. */
  const unknown = async (name: string, caller: Caller): Promise<JsonObject> => {
    const nearest = nearestName(name, [...(await current(caller)).keys()]);
    const server = gateway.settings().servers.find((one) => name.startsWith(`${one.name}__`))?.name;
    const absent = (await gateway.absentServers(caller)).find((one) => one.name === server);
    return refusal({
      code: 'not_found',
      message: absent
        ? `Tool "${name}" is not available: ${absent.reason}`
        : `Unknown tool "${name}"${nearest === null ? '' : `; did you mean ${nearest}?`}`,
    });
  };

  return {
    ...endpoint,
    async serverInfo(who, modern) {
      const { info, capabilities } = await endpoint.serverInfo(who, modern);
      return { info, capabilities, instructions: instructions(gateway.inventory({ who }), withMeta) };
    },
    handle: (request) => {
      if (request.method === 'tools/list') return list(request);
      return request.method === 'tools/call' ? call(request) : endpoint.handle(request);
    },
    async mirroredSchema(name, who) {
      const tool = (await current({ who })).get(name);
      return tool ? await parts.mirroredSchema(tool.server, tool.name) : null;
    },
  };
}

/** By the name that clients see: the same for a tool whatever else is attached. */
function namedTools(offered: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> {
  const named = new Map<string, ToolDefinition>();
  for (const tool of offered) {
    const name = nativeName(tool.id);
    // Two ids with the same hash, or a tool that is called like another's short name.
    named.set(named.has(name) ? nativeName(tool.id, true) : name, tool);
  }
  return named;
}

/**
 * `server__tool`. Where that is too long, has other characters than clients accept, or could be read as another
 * server's tool, a hash of the id makes it unique.
 */
export function nativeName(id: ToolId, mustBeShort = false): string {
  const { server, tool } = splitToolId(id);
  const whole = `${server}__${tool}`;
  const isPlain = NAME.test(whole) && whole.indexOf('__') === server.length && !tool.includes('__');
  if (isPlain && !tool.startsWith('_') && !mustBeShort) return whole;
  return shortened(id, whole.replace(/[^A-Za-z0-9_-]/g, '_'), '_');
}

function instructions(inventory: string, withMeta: boolean): string {
  return [
    `PML gives you the tools of many servers, named server__tool. Attached: ${inventory}`,
    'A call that needs approval says so: tell the user which call waits and how to approve it, then make it again.',
    ...(withMeta
      ? [
          'pml_execute runs several calls at once, given as code; pml_search_capabilities finds proven routines.',
        ]
      : []),
  ].join('\n');
}
