import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/ports.ts';
import { callTool, ERAS, type Era, prepareClient, rawRequest } from '../support/mcp-endpoints.ts';
import { referenceServers, writeFiles } from '../support/mcp-reference-servers.ts';
import { LAUNCHER, PASSED_ON, type ServingPml, servePml } from '../support/run-pml.ts';

const CAPABILITIES = { elicitation: { form: {} }, sampling: {} };
/** Real servers, started by a real gateway, on a machine that may be busy. */

type Way = 'stdio' | 'HTTP';
const WAYS = (['HTTP', 'stdio'] as const).flatMap((way) => ERAS.map((era) => ({ way, era })));

async function answer(method: string): Promise<JsonObject> {
  if (method === 'elicitation/create') return { action: 'accept', content: { name: 'Ann' } };
  const content = { type: 'text', text: 'sampled words' };
  return { model: 'm', role: 'assistant', content, stopReason: 'endTurn' };
}

describe('[MCP-25] real servers, a real gateway, the official client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pml-scenario-'));
  const files = writeFiles(folder);
  let served: ServingPml;
  beforeAll(async () => {
    served = await servePml({ data: join(folder, 'data'), config: { mcpServers: referenceServers(folder) } });
  });
  afterAll(async () => {
    await served?.stop();
    rmSync(folder, { recursive: true, maxRetries: 20 });
  });

  function transportTo(way: Way, era: Era): Transport {
    if (way === 'HTTP') {
      const headers = { authorization: `Bearer ${served.token}` };
      return new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit: { headers } });
    }
    const config = join(folder, 'stdio.json');
    writeFileSync(config, JSON.stringify({ mcpServers: referenceServers(folder) }));
    const args = [LAUNCHER, 'stdio', '--data', join(folder, `stdio-${era}`), '--config', config];
    return new StdioClientTransport({ command: process.execPath, args, env: PASSED_ON });
  }

  describe.each(WAYS)('over $way, $era', ({ way, era }) => {
    let client: Client;
    const execute = (tool: string, args: object, options = {}) =>
      callTool(client, 'pml_execute', { tool, arguments: args }, options);
    beforeAll(async () => {
      const negotiation = era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
      client = new Client({ name: 'scenario', version: '1' }, { capabilities: CAPABILITIES, ...negotiation });
      prepareClient(client, CAPABILITIES, answer);
      await client.connect(transportTo(way, era));
    });
    afterAll(() => client?.close());

    test('list', async () => {
      expect(client.getProtocolEra()).toBe(era);
      const query = { query: 'echo a file, think, remember', limit: 50 };
      const servers = async () => {
        const { tools } = (await callTool(client, 'pml_search_tools', query)).structuredContent;
        return [...new Set((tools as { server_id: string }[]).map(({ server_id }) => server_id))].toSorted();
      };
      await expect.poll(servers).toEqual(['everything', 'filesystem', 'memory', 'thinking']);
      const { tools } = (await rawRequest(client, 'tools/list')) as { tools: { name: string }[] };
      expect(tools.map(({ name }) => name)).toContain('pml_execute');
    });

    test('search', async () => {
      const found = await callTool(client, 'pml_search_tools', { query: 'read the contents of a text file' });
      const ids = (found.structuredContent.tools as { tool_id: string }[]).map(({ tool_id }) => tool_id);
      expect(ids).toContain('filesystem:read_text_file');
    });

    test('call', async () => {
      const read = await execute('filesystem:read_text_file', { path: files.note });
      expect(JSON.stringify(read.structuredContent.result)).toContain('remember the milk');
      expect(read.structuredContent).toMatchObject({ status: 'success', run_id: expect.any(String) });
      const entities = [{ name: `Ada ${way} ${era}`, entityType: 'person', observations: ['programs'] }];
      await execute('memory:create_entities', { entities });
      expect(JSON.stringify((await execute('memory:read_graph', {})).structuredContent)).toContain(
        `Ada ${way} ${era}`,
      );
      const thought = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
      expect((await execute('thinking:sequentialthinking', thought)).structuredContent.status).toBe(
        'success',
      );
      const image = await execute('everything:get-tiny-image', {});
      expect(image.content.some(({ type }) => type === 'image')).toBe(true);
    });

    test('resource read', async () => {
      // A server that takes its time is left out of a list.
      let uri: string | undefined;
      const listed = async () => {
        const { resources } = (await rawRequest(client, 'resources/list')) as {
          resources: { uri: string }[];
        };
        uri = resources.find((resource) => resource.uri.startsWith('pml://everything/'))?.uri;
        return uri;
      };
      await expect.poll(listed).toBeDefined();
      expect(await rawRequest(client, 'resources/read', { uri })).toMatchObject({ contents: [{ uri }] });
    });

    test('prompt', async () => {
      const listed = async () => {
        const { prompts } = (await rawRequest(client, 'prompts/list')) as { prompts: { name: string }[] };
        return prompts.map(({ name }) => name);
      };
      await expect.poll(listed).toContain('everything:args-prompt');
      const got = await rawRequest(client, 'prompts/get', {
        name: 'everything:args-prompt',
        arguments: { city: 'Bern' },
      });
      expect(JSON.stringify(got)).toContain('Bern');
    });

    test('progress', async () => {
      // The SDK's own client drops what comes in one piece with the answer, so there is none: it is ended before.
      const controller = new AbortController();
      const told: number[] = [];
      const onprogress = ({ progress }: { progress: number }) => {
        if (told.push(progress) === 4) controller.abort();
      };
      const slow = { duration: 60, steps: 600 };
      const options = { signal: controller.signal, onprogress };
      await expect(execute('everything:trigger-long-running-operation', slow, options)).rejects.toThrow();
      expect(told.slice(0, 4)).toEqual([1, 2, 3, 4]);
    });

    test('cancel', async () => {
      const controller = new AbortController();
      let begun: () => void = () => {};
      const running = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const slow = { duration: 60, steps: 600 };
      const options = { signal: controller.signal, onprogress: () => begun() };
      const hanging = execute('everything:trigger-long-running-operation', slow, options);
      await running;
      controller.abort();
      await expect(hanging).rejects.toThrow();
      expect(
        (await execute('everything:echo', { message: 'still here' })).structuredContent.result,
      ).toContain('still here');
    });

    test('elicitation', async () => {
      const asked = await execute('everything:trigger-elicitation-request', {});
      expect(JSON.stringify(asked.structuredContent.result)).toContain('Ann');
      const sampled = await execute('everything:trigger-sampling-request', { prompt: 'say', maxTokens: 5 });
      expect(JSON.stringify(sampled.structuredContent.result)).toContain('sampled words');
    });

    test('error', async () => {
      const outside = await execute('filesystem:read_text_file', { path: '/etc/passwd' });
      expect(outside).toMatchObject({ isError: true, structuredContent: { status: 'error' } });
      const unknown = await execute('filesystem:read_txt_file', {});
      expect(unknown.structuredContent.error).toMatchObject({
        code: 'not_found',
        hint: expect.stringContaining('filesystem:read_text_file'),
      });
    });

    test('large result', async () => {
      const read = await execute('filesystem:read_text_file', { path: files.book });
      expect(JSON.stringify(read).length).toBeLessThan(40_000);
      const link = read.content.find(({ uri }) => String(uri).startsWith('pml://results/'));
      const whole = await rawRequest(client, 'resources/read', { uri: link?.uri });
      expect(JSON.stringify(whole).length).toBeGreaterThan(120_000);
    });
  });
});
