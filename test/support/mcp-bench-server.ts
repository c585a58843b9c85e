import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryRpcError, type MemoryServer, type MemoryTool } from '../memory/upstream-server.ts';

const text = (value: unknown) => ({ content: [{ type: 'text', text: String(value) }] });

/** A server of functions with a tool for everything that the MCP surface transports. */
export interface BenchServer extends MemoryServer {
  readonly seen: { calls: number; cancelled: number };
}

export function benchServer(name = 'bench', over: Partial<MemoryServer> = {}): BenchServer {
  const seen = { calls: 0, cancelled: 0 };
  const tool = (
    id: string,
    description: string,
    call: MemoryTool['call'],
    more: object = {},
  ): MemoryTool => ({
    definition: {
      name: id,
      description,
      inputSchema: { type: 'object', additionalProperties: true },
      ...more,
    },
    call: (args, context) => {
      seen.calls += 1;
      return call(args, context);
    },
  });
  return {
    name,
    seen,
    identity: {
      info: { name: `${name}-server`, version: '1.2.3', title: 'The bench' },
      instructions: 'Try things.',
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        experimental: { 'bench/extra': {} },
      },
    },
    tools: [
      tool(
        'echo',
        'Says back what it is given',
        (args) => ({
          ...text(args.text),
          structuredContent: { echoed: args },
          'bench/extra': 1,
        }),
        { _meta: { 'bench/unknown': true }, 'bench/field': 1 },
      ),
      tool('plain', 'Answers with plain text', ({ answer }) => text(answer)),
      tool('count', 'Answers with JSON in text', () => text('{"count": 3}')),
      tool('picture', 'Paints a picture', () => ({
        content: [
          { type: 'text', text: 'a dot' },
          { type: 'image', data: 'aGk=', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'bench://note', name: 'note' },
          { type: 'resource_link', uri: 'https://example.test/x', name: 'web' },
        ],
      })),
      tool('fail', 'Goes wrong', () => ({ ...text('it went wrong'), isError: true })),
      tool('reject', 'Answers with an error of its own', () => {
        throw new MemoryRpcError(-32050, 'rejected', { because: 'of a test' });
      }),
      tool('huge', 'Says a lot', ({ chars, json }) => {
        const long = 'äö🙂x'.repeat(Math.ceil(Number(chars) / 5)).slice(0, Number(chars));
        return json === true ? { content: [], structuredContent: { long } } : text(long);
      }),
      tool('hang', 'Never ends by itself', (_args, { signal }) => {
        signal.addEventListener('abort', () => {
          seen.cancelled += 1;
        });
        return new Promise(() => {});
      }),
      tool('steps', 'Tells how far it is', async ({ steps }, { progress }) => {
        for (let step = 1; step <= Number(steps); step++) {
          progress({ progress: step, total: Number(steps), message: `step ${step}` });
          await sleep(5);
        }
        return text('done');
      }),
      tool('ask', 'Asks the user', async ({ question }, { ask }) => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
        const answer = await ask('elicitation/create', { message: question, requestedSchema });
        return { content: [], structuredContent: answer };
      }),
      tool('sample', 'Asks a model', async (_args, { ask }) => {
        const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
        return {
          content: [],
          structuredContent: await ask('sampling/createMessage', { messages, maxTokens: 5 }),
        };
      }),
      tool('roots', 'Asks for roots', async (_args, { ask }) => ({
        content: [],
        structuredContent: await ask('roots/list', {}),
      })),
      tool('log', 'Logs a line', async ({ level, message }, { notify }) => {
        notify('notifications/message', { level, data: message, logger: 'own' });
        return text('logged');
      }),
      tool('tell', 'Sends a notification', async ({ method, params }, { notify }) => {
        notify(String(method), (params ?? {}) as Record<string, unknown>);
        return text('told');
      }),
      tool('delete_all', 'Deletes everything', () => text('gone'), {
        annotations: { destructiveHint: true },
      }),
    ],
    requests: {
      'resources/list': ({ cursor }) =>
        cursor === 'more'
          ? { resources: [{ uri: 'bench://second', name: 'second' }] }
          : { resources: [{ uri: 'bench://note', name: 'note', 'bench/field': 1 }], nextCursor: 'more' },
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'bench://{name}', name: 'any' }],
      }),
      'resources/read': ({ uri }) => {
        if (uri !== 'bench://note') throw new MemoryRpcError(-32002, 'Resource not found', { uri });
        return { contents: [{ uri, text: 'a note' }] };
      },
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }, { name: `long_${'x'.repeat(80)}` }] }),
      'prompts/get': ({ name: prompt, arguments: args }) => ({
        description: `the prompt ${String(prompt).slice(0, 5)}`,
        messages: [
          { role: 'user', content: { type: 'text', text: `Hello ${(args as { name?: string })?.name}` } },
          { role: 'user', content: { type: 'resource', resource: { uri: 'bench://note', text: 'a note' } } },
        ],
      }),
      'completion/complete': ({ ref, argument }) => ({
        completion: { values: [`${JSON.stringify(ref)} ${(argument as { value: string }).value}`] },
      }),
      'logging/setLevel': () => ({}),
      'bench/custom': (params) => ({ got: params, more: true }),
    },
    ...over,
  };
}
