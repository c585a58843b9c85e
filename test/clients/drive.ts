/**
 * Runs in a folder of its own, where the client is installed: `node drive.ts CLIENT`, with the address and key of a
 * gateway in the environment. Prints one JSON object: by check, true or what went wrong.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AGENT_NAMES, driveAgent, type Json } from './agents.ts';
import { startStandIn } from './stand-in.ts';

/** A client, reduced to what the checks need. */
interface Driven {
  list(): Promise<readonly string[]>;
  /** Everything that the client passes to its model, with media as blocks. */
  call(name: string, args: Json): Promise<unknown>;
  /** Calls a tool and counts the notifications of progress that reach the caller; absent where nothing hands them on. */
  countProgress?(name: string, args: Json): Promise<number>;
  close(): Promise<void>;
}

const { PML_URL = '', PML_KEY = '', PML_FOLDER = '' } = process.env;
const headers = { Authorization: `Bearer ${PML_KEY}` };
const address = (path: string) => new URL(`${PML_URL}${path}`);
/** The module exists only where the client is installed, so its types are written here. */
const load = async <T>(name: string): Promise<T> => await import(name);

interface SdkClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: readonly Named[] }>;
  callTool(...args: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

interface Named {
  readonly name: string;
}

type ClientClass = new (info: Json) => SdkClient;
type TransportClass = new (url: URL, options: Json) => unknown;

const CLIENTS: Readonly<Record<string, (path: string) => Promise<Driven>>> = {
  '@modelcontextprotocol/sdk': async (path) => {
    const folder = '@modelcontextprotocol/sdk/client';
    const { Client } = await load<{ Client: ClientClass }>(`${folder}/index.js`);
    const transports = await load<Record<string, TransportClass>>(`${folder}/streamableHttp.js`);
    const StreamableHTTPClientTransport = transports.StreamableHTTPClientTransport!;
    const client = new Client({ name: 'matrix', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(address(path), { requestInit: { headers } }));
    return ofSdk(client, (args, onprogress) => client.callTool(args, undefined, { onprogress }));
  },

  '@modelcontextprotocol/client': async (path) => {
    const { Client, StreamableHTTPClientTransport } = await load<{
      Client: ClientClass;
      StreamableHTTPClientTransport: TransportClass;
    }>('@modelcontextprotocol/client');
    const client = new Client({ name: 'matrix', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(address(path), { requestInit: { headers } }));
    return ofSdk(client, (args, onprogress) => client.callTool(args, { onprogress }));
  },

  '@modelcontextprotocol/inspector': async (path) => {
    const run = promisify(execFile);
    const program = join('node_modules', '.bin', 'mcp-inspector');
    const ask = async (...more: string[]) => {
      const auth = ['--header', `Authorization: ${headers.Authorization}`];
      const common = ['--cli', String(address(path)), '--transport', 'http', ...auth];
      const { stdout } = await run(program, [...common, ...more], { maxBuffer: 2 ** 26 });
      return JSON.parse(stdout);
    };
    // Each command is a connection of its own.
    await ask('--method', 'tools/list');
    return {
      list: async () => names((await ask('--method', 'tools/list')).tools),
      call: async (name, args) => {
        const given = Object.entries(args).flatMap(([key, value]) => [
          '--tool-arg',
          `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        ]);
        return await ask('--method', 'tools/call', '--tool-name', name, ...given);
      },
      close: async () => {},
    };
  },

  '@ai-sdk/mcp': async (path) => {
    interface Tool {
      execute(args: Json, options: Json): Promise<unknown>;
    }
    const { createMCPClient } = await load<{
      createMCPClient(
        options: Json,
      ): Promise<{ tools(): Promise<Record<string, Tool>>; close(): Promise<void> }>;
    }>('@ai-sdk/mcp');
    const client = await createMCPClient({
      transport: { type: 'http', url: String(address(path)), headers },
    });
    const tools = await client.tools();
    return {
      list: async () => Object.keys(tools),
      call: (name, args) => tools[name]!.execute(args, { messages: [], toolCallId: 'call' }),
      close: () => client.close(),
    };
  },

  '@langchain/mcp-adapters': async (path) => {
    interface Tool extends Named {
      invoke(args: Json): Promise<unknown>;
    }
    const { MultiServerMCPClient } = await load<{
      MultiServerMCPClient: new (options: Json) => { getTools(): Promise<Tool[]>; close(): Promise<void> };
    }>('@langchain/mcp-adapters');
    const url = String(address(path));
    const client = new MultiServerMCPClient({ mcpServers: { pml: { transport: 'http', url, headers } } });
    const tools = await client.getTools();
    return {
      list: async () => names(tools),
      call: async (name, args) => await tools.find((tool) => tool.name === name)!.invoke(args),
      close: () => client.close(),
    };
  },

  // The agent of this package runs in this process; its model is the stand-in.
  '@openai/agents': async (path) => {
    interface Server {
      connect(): Promise<void>;
      close(): Promise<void>;
    }
    const { Agent, MCPServerStreamableHttp, OpenAIProvider, Runner } = await load<{
      Agent: new (options: Json) => unknown;
      MCPServerStreamableHttp: new (options: Json) => Server;
      OpenAIProvider: new (options: Json) => unknown;
      Runner: new (options: Json) => { run(agent: unknown, prompt: string, options: Json): Promise<unknown> };
    }>('@openai/agents');
    const standIn = await startStandIn();
    const baseURL = `${standIn.url}/v1`;
    const modelProvider = new OpenAIProvider({ apiKey: 'stand-in', baseURL, useResponses: true });
    const url = String(address(path));
    const server = new MCPServerStreamableHttp({ name: 'pml', url, requestInit: { headers } });
    await server.connect();
    const agent = new Agent({ name: 'matrix', instructions: 'Do as the model says.', mcpServers: [server] });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const ended = runner.run(agent, 'Go.', { maxTurns: 50 }).then(() => {
      throw new Error('the agent has ended');
    });
    ended.catch(() => {});
    return {
      list: () => Promise.race([standIn.offered(() => true), ended]),
      call: (name, args) => Promise.race([standIn.call(name, args), ended]),
      async close() {
        standIn.finish();
        await ended.catch(() => {});
        await server.close();
        standIn.close();
      },
    };
  },

  ...Object.fromEntries(
    AGENT_NAMES.map((name) => [
      name,
      (path: string) => {
        const home = join(process.cwd(), `home${path.replaceAll('/', '-')}-${name.replace(/.*\//, '')}`);
        return driveAgent(name, home, { url: String(address(path)), key: PML_KEY });
      },
    ]),
  ),
};

function ofSdk(
  client: SdkClient,
  callTool: (args: Json, onProgress: () => void) => Promise<unknown>,
): Driven {
  return {
    list: async () => names((await client.listTools()).tools),
    call: (name, args) => callTool({ name, arguments: args }, () => {}),
    async countProgress(name, args) {
      let told = 0;
      await callTool({ name, arguments: args }, () => {
        told += 1;
      });
      return told;
    },
    close: () => client.close(),
  };
}

function names(tools: readonly Named[]): string[] {
  return tools.map(({ name }) => name);
}

class Wrong extends Error {}

function expectText(answer: unknown, ...wanted: readonly (string | RegExp)[]): void {
  const text = JSON.stringify(answer);
  for (const one of wanted) {
    const isThere = typeof one === 'string' ? text.includes(one) : one.test(text);
    if (!isThere) throw new Wrong(`${one} is missing in ${text.slice(0, 200)}`);
  }
}

const EXECUTE = 'pml_execute';

/** How often a call asked for progress so far, and how often one was told, as counted on the way to the gateway. */
async function watched(): Promise<{ readonly asked: number; readonly told: number }> {
  return (await (await fetch(address('/watched'))).json()) as { asked: number; told: number };
}

/** By name, what is tried with a connected client. */
const CHECKS: Readonly<Record<string, (client: Driven) => Promise<unknown>>> = {
  list: async (client) => expectText(await client.list(), EXECUTE, 'pml_search_tools'),
  search: async (client) =>
    expectText(
      await client.call('pml_search_tools', { query: 'read a text file' }),
      'filesystem:read_text_file',
    ),
  call: async (client) =>
    expectText(
      await client.call(EXECUTE, { tool: 'everything:echo', arguments: { message: 'hello-1' } }),
      'Echo: hello-1',
    ),
  code: async (client) => {
    const code =
      'const all = await Promise.all([1, 2].map((n) => mcp.everything["get-sum"]({ a: n, b: n }))); return all.join("+")';
    expectText(await client.call(EXECUTE, { code, intent: 'add numbers twice' }), /is 2.*is 4/s);
  },
  // A model sees a picture only as a block of its own; in a text it would be base64. Every API has its own form of it.
  image: async (client) =>
    expectText(
      await client.call(EXECUTE, { tool: 'everything:get-tiny-image', arguments: {} }),
      /"type":"(?:input_)?image(?:_url)?"|"inlineData":\{/,
    ),
  'large result': async (client) => {
    const path = join(PML_FOLDER, 'large.txt');
    const cut = await client.call(EXECUTE, { tool: 'filesystem:read_text_file', arguments: { path } });
    const [, id] = /pml:\/\/results\/([0-9a-f-]{36})/.exec(JSON.stringify(cut)) ?? [];
    if (id === undefined) throw new Wrong('no link to the whole result');
    const rest = { tool: 'pml:read_result', arguments: { id, offset: 38_000, limit: 2_000 } };
    expectText(await client.call(EXECUTE, rest), 'line 4000');
  },
  approval: async (client) => {
    const started = performance.now();
    const call = { tool: 'memory:delete_entities', arguments: { entityNames: ['nobody'] } };
    expectText(await client.call(EXECUTE, call), 'approval', 'pml runs approve');
    if (performance.now() - started > 10_000) throw new Wrong('the answer took more than ten seconds');
  },
  progress: async (client) => {
    const call = { tool: 'everything:trigger-long-running-operation', arguments: { duration: 1, steps: 4 } };
    const before = await watched();
    const heard = client.countProgress ? await client.countProgress(EXECUTE, call) : undefined;
    if (heard === undefined) await client.call(EXECUTE, call);
    const after = await watched();
    if (after.asked === before.asked) return 'asks for none';
    if (after.told === before.told || heard === 0) throw new Wrong('no progress was reported');
    return true;
  },
};

const wanted = process.argv[2] ?? '';
const connect = CLIENTS[wanted];
if (!connect) throw new Error(`no such client: ${wanted}; there are ${Object.keys(CLIENTS).join(', ')}`);

// Ends the agents, too.
process.once('SIGTERM', () => process.exit(1));

const verdicts: Record<string, true | string> = {};
async function judge(name: string, check: () => Promise<unknown>): Promise<void> {
  try {
    const said = await check();
    verdicts[name] = typeof said === 'string' ? said : true;
  } catch (error) {
    verdicts[name] = `failed: ${error instanceof Error ? error.message : String(error)}`.slice(0, 300);
  }
}

let client: Driven | undefined;
await judge('connect', async () => {
  client = await connect('/mcp');
});
if (client) {
  for (const [name, check] of Object.entries(CHECKS)) await judge(name, () => check(client!));
  await client.close();
}
await judge('native lane', async () => {
  const native = await connect('/mcp/all');
  const listed = (await native.list()).find((name) => name.endsWith('everything__echo'));
  if (listed === undefined) throw new Wrong('everything__echo is not listed');
  expectText(await native.call(listed, { message: 'hello-2' }), 'Echo: hello-2');
  await native.close();
});
process.stdout.write(`${JSON.stringify(verdicts)}\n`, () => process.exit(0));
