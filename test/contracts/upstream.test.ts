import { setTimeout as sleep } from 'node:timers/promises';
import { startHttpFixture } from '../fixtures/servers/http-server.ts';
import { MemoryUpstream } from '../memory/upstream.ts';
import { MemoryRpcError, type MemoryServer, type MemoryTool } from '../memory/upstream-server.ts';
import { upstreamContract } from './upstream-contract.ts';
import { httpServer, openUpstream, stdioServer } from './upstream-support.ts';

upstreamContract('in memory', async () => {
  const upstream = new MemoryUpstream([memoryBench()]);
  return { upstream, dispose: () => upstream.close() };
});

upstreamContract('a process of the 2026-07-28 era', async () =>
  openUpstream([stdioServer('bench', 'modern')]),
);

upstreamContract('a process of the 2025-11-25 era', async () =>
  openUpstream([stdioServer('bench', 'legacy')]),
);

for (const era of ['modern', 'legacy'] as const) {
  upstreamContract(`over HTTP, ${era}`, async () => {
    const fixture = await startHttpFixture({ era });
    const { upstream, dispose } = openUpstream([httpServer('bench', fixture.url)]);
    return { upstream, dispose: () => dispose().then(fixture.close) };
  });
}

/** The workbench's tools as functions. */
function memoryBench(): MemoryServer {
  const seen = { cancelled: 0 };
  const text = (value: unknown) => ({ content: [{ type: 'text', text: String(value) }] });
  const tools: MemoryTool[] = [];
  const add = (name: string, call: MemoryTool['call']) =>
    tools.push({
      definition: { name, description: `The tool ${name}`, _meta: { 'fixture/unknown': name } },
      call,
    });
  add('echo', (args) => ({ ...text(args.text), structuredContent: { echoed: args }, 'fixture/extra': 1 }));
  add('fail', () => ({ ...text('it went wrong'), isError: true }));
  add('reject', () => {
    throw new MemoryRpcError(-32050, 'rejected', { because: 'of a test' });
  });
  add('hang', (_args, { signal }) => {
    signal.addEventListener('abort', () => {
      seen.cancelled += 1;
    });
    return new Promise(() => {});
  });
  add('list_seen', () => ({ structuredContent: { ...seen } }));
  add('progress', async ({ steps, ms }, { progress }) => {
    for (let step = 1; step <= Number(steps); step++) {
      await sleep(Number(ms));
      progress({ progress: step, total: Number(steps), message: `step ${step}` });
    }
    return text('done');
  });
  add('ask', async ({ question }, { ask }) => {
    const { action, content } = await ask('elicitation/create', { message: question });
    return text(JSON.stringify({ action, ...(content as object | undefined) }));
  });
  add('add_tool', ({ name }, { notify }) => {
    add(String(name), () => text('new'));
    notify('notifications/tools/list_changed', {});
    return text('added');
  });
  return {
    name: 'bench',
    tools,
    identity: { info: { name: 'workbench' }, instructions: 'Try things.' },
    requests: {
      'resources/read': ({ uri }) => {
        if (uri !== 'bench://note') throw new MemoryRpcError(-32602, 'Resource not found', { uri });
        return { contents: [{ uri, text: 'a note' }] };
      },
      'prompts/get': ({ arguments: args }) => ({
        messages: [{ content: { text: `Hello ${(args as { name: string }).name}` } }],
      }),
      'completion/complete': () => ({ completion: { values: ['anna'] } }),
    },
  };
}
