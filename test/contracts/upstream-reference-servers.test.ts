import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerSettings, UpstreamProgress } from '../../src/engine/ports.ts';
import { answeringClient, textOf } from './upstream-contract.ts';
import { commandServer, type OpenUpstream, openUpstream } from './upstream-support.ts';

/** The servers that come with the protocol, as people install them. */
function referenceServer(name: string, ...args: string[]): ServerSettings {
  const file = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const [bin] = Object.values(JSON.parse(readFileSync(file, 'utf8')).bin as Record<string, string>);
  return commandServer(name, [join(dirname(file), bin as string), ...args]);
}

describe('[UP-44] the reference servers', () => {
  let opened: OpenUpstream;
  const folder = mkdtempSync(join(tmpdir(), 'pml-reference-'));
  beforeAll(async () => {
    writeFileSync(join(folder, 'note.txt'), 'remember the milk');
    opened = openUpstream([
      referenceServer('everything'),
      referenceServer('filesystem', folder),
      {
        ...referenceServer('memory'),
        env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
      } as ServerSettings,
      referenceServer('sequential-thinking'),
    ]);
    await Promise.all(opened.upstream.servers().map(({ name }) => opened.upstream.catalogue(name)));
  });
  afterAll(async () => {
    await opened.dispose();
    rmSync(folder, { recursive: true });
  });

  test('all start and list their tools', () => {
    const servers = opened.upstream.servers();
    expect(servers.map(({ name, state }) => [name, state])).toEqual([
      ['everything', 'ready'],
      ['filesystem', 'ready'],
      ['memory', 'ready'],
      ['sequential-thinking', 'ready'],
    ]);
    for (const { toolCount } of servers) expect(toolCount).toBeGreaterThan(0);
  });

  test('filesystem reads a file and refuses one outside', async () => {
    const read = (path: string) => opened.upstream.callTool('filesystem', 'read_text_file', { path });
    const inside = await read(join(folder, 'note.txt'));
    expect(inside.ok && textOf(inside.value)).toBe('remember the milk');
    expect(await read('/etc/passwd')).toMatchObject({ ok: true, value: { isError: true } });
  });

  test('memory remembers', async () => {
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    await opened.upstream.callTool('memory', 'create_entities', { entities });
    const graph = await opened.upstream.callTool('memory', 'read_graph', {});
    expect(graph).toMatchObject({ ok: true, value: { structuredContent: { entities } } });
  });

  test('sequential-thinking takes a thought', async () => {
    const thought = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    const reply = await opened.upstream.callTool('sequential-thinking', 'sequentialthinking', thought);
    expect(reply).toMatchObject({ ok: true });
  });

  test('everything: progress, resource, prompt, elicitation and sampling', async () => {
    const { upstream } = opened;
    const told: UpstreamProgress[] = [];
    const long = { duration: 0.2, steps: 4 };
    const onProgress = (progress: UpstreamProgress) => told.push(progress);
    await upstream.callTool('everything', 'trigger-long-running-operation', long, { onProgress });
    expect(told.length).toBeGreaterThanOrEqual(4);

    const { resources } = (await upstream.request('everything', 'resources/list', {}).then(expectOk)) as {
      resources: { uri: string }[];
    };
    const uri = resources[0]?.uri;
    const read = await upstream.request('everything', 'resources/read', { uri }).then(expectOk);
    expect(read).toMatchObject({ contents: [{ uri }] });

    const prompt = { name: 'args-prompt', arguments: { city: 'Bern' } };
    const got = await upstream.request('everything', 'prompts/get', prompt).then(expectOk);
    expect(JSON.stringify(got)).toContain('Bern');

    const client = {
      ...answeringClient('ann', 'Ann'),
      capabilities: { elicitation: { form: {} }, sampling: {} },
      ask: async (method: string) => {
        if (method === 'elicitation/create') return { action: 'accept', content: { name: 'Ann' } };
        const content = { type: 'text', text: 'sampled words' };
        return { model: 'm', role: 'assistant', content, stopReason: 'endTurn' };
      },
    };
    const ask = async (tool: string, args: object = {}) =>
      JSON.stringify(await upstream.callTool('everything', tool, { ...args }, { client }));
    expect(await ask('trigger-elicitation-request')).toContain('Ann');
    expect(await ask('trigger-sampling-request', { prompt: 'say', maxTokens: 5 })).toContain('sampled words');
  });

  test('[TASK-1] a tool that runs as a task only is called as one: its stages are progress, its question is asked', async () => {
    const { upstream } = opened;
    const call = { topic: 'python', ambiguous: true };
    const told: UpstreamProgress[] = [];
    const asked: string[] = [];
    const client = {
      ...answeringClient('ann', 'Ann'),
      capabilities: { elicitation: { form: {} } },
      ask: async (method: string) => {
        asked.push(method);
        return { action: 'accept', content: { interpretation: 'snake' } };
      },
    };
    const onProgress = (progress: UpstreamProgress) => told.push(progress);
    const reply = await upstream.callTool('everything', 'simulate-research-query', call, {
      asTask: true,
      client,
      onProgress,
    });
    const text = textOf(expectOk(reply));
    expect(text).toContain('Research Report');
    expect(text).toContain('snake');
    expect(asked).toEqual(['elicitation/create']);
    // Which of its stages are seen depends on when it is looked at.
    const stages = told.map(({ message }) => message).join('\n');
    expect(stages).toMatch(/Gathering|Analyzing|Found multiple|Synthesizing|Generating/);
  });

  test('[TASK-2] a cancelled call cancels its task', async () => {
    const { upstream } = opened;
    const cancel = new AbortController();
    const reply = await upstream.callTool(
      'everything',
      'simulate-research-query',
      { topic: 'rain' },
      { asTask: true, signal: cancel.signal, onProgress: () => cancel.abort() },
    );
    expect(reply.ok).toBe(false);
    await expect
      .poll(async () => {
        const { tasks } = expectOk(await upstream.request('everything', 'tasks/list', {})) as {
          tasks: { status: string }[];
        };
        return tasks.map(({ status }) => status);
      })
      .toContain('cancelled');
  });
});

function expectOk<T>(reply: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value;
}
