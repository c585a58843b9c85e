import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { benchServer } from '../support/mcp-bench-server.ts';
import {
  type ConnectOptions,
  callTool,
  connectClient,
  ERAS,
  fetchInto,
  openEndpoints,
  rawRequest,
} from '../support/mcp-endpoints.ts';
import type { TestGatewayOptions } from '../support/open-test-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway } from '../support/test-gateway.ts';

async function open(
  options: ConnectOptions,
  servers: readonly MemoryServer[] = [benchServer()],
  over: TestGatewayOptions = {},
) {
  const { gateway, store } = await testGateway({ servers, ...over });
  const endpoints = openEndpoints(gateway);
  const client = await connectClient(fetchInto(endpoints), options);
  return { client, gateway, store, endpoints };
}

describe.each(ERAS)('the five tools, %s', (era) => {
  test('[MCP-1] are listed in one order, the same bytes every time, each with the schema of its input and of its output', async () => {
    const { client, endpoints } = await open({ era });
    const first = await rawRequest(client, 'tools/list');
    const names = (first.tools as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual([
      'pml_search_tools',
      'pml_search_capabilities',
      'pml_suggest',
      'pml_execute',
      'pml_execute_workflow',
    ]);
    for (const tool of first.tools as JsonObject[]) {
      expect(tool.description).toMatch(/^[A-Z][a-z]+ /);
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
    }
    await callTool(client, 'pml_execute', { tool: 'bench:echo', arguments: {} });
    const other = await connectClient(fetchInto(endpoints), { era });
    expect(JSON.stringify(await rawRequest(other, 'tools/list'))).toBe(JSON.stringify(first));
    expect(client.getInstructions()).toMatch(/Attached: 1 servers?, 15 tools: bench \(15\)/);
    expect(client.getInstructions()).toMatch(/Search: call pml_search_tools.*Execute: call pml_execute/s);
  });

  test('[MCP-44] the whole list stays within 5 KB with 25 servers, and is the same as with one', async () => {
    const servers = Array.from({ length: 25 }, (_, at) => benchServer(`a-server-with-a-long-name-${at}`));
    const { client } = await open({ era }, servers);
    const reply = await rawRequest(client, 'tools/list');
    const whole = JSON.stringify({
      jsonrpc: '2.0',
      id: 1_000_000,
      result: { resultType: 'complete', ...reply },
    });
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(5 * 1024);
    expect(client.getInstructions()).toContain(
      '25 servers, 375 tools: a-server-with-a-long-name-0, a-server',
    );
    const { client: other } = await open({ era });
    expect(JSON.stringify(await rawRequest(other, 'tools/list'))).toBe(JSON.stringify(reply));
  });

  test('[MCP-2] are found by their aliases; an unknown name is answered with the nearest, if one is near', async () => {
    const { client } = await open({ era });
    for (const name of ['pml:search_tools', 'pml.search_tools', 'search_tools', 'pml_search_tools']) {
      const found = await callTool(client, name, { query: 'echo', limit: 1 });
      expect(found.structuredContent.tools).toHaveLength(1);
    }
    const unknown = await callTool(client, 'pml_serch_tools', { query: 'echo' });
    expect(unknown.isError).toBe(true);
    expect(unknown.structuredContent.error).toMatchObject({
      code: 'not_found',
      message: 'Unknown tool "pml_serch_tools"; did you mean pml_search_tools?',
    });
    const nonsense = await callTool(client, 'zzzz', {});
    expect(nonsense.structuredContent.error).toMatchObject({ message: 'Unknown tool "zzzz"' });
  });

  test('[MCP-3] accept arguments as JSON in strings, whole or in parts', async () => {
    const { client } = await open({ era });
    const echoed = { status: 'success', result: { echoed: { text: 'hi', deep: [1] } } };
    const args = { text: 'hi', deep: [1] };
    const spellings = [
      JSON.stringify({ tool: 'bench:echo', arguments: args }),
      { tool: 'bench:echo', arguments: JSON.stringify(args) },
      JSON.stringify({ tool: 'bench:echo', arguments: JSON.stringify(args), timeout_ms: '5000' }),
      { tool: 'mcp__bench__echo', arguments: args, intent: null },
    ];
    for (const spelling of spellings) {
      expect((await callTool(client, 'pml_execute', spelling)).structuredContent).toMatchObject(echoed);
    }
    const search = {
      query: 'says back',
      limit: '1',
      include_related: 'true',
      context_tools: '["bench:log"]',
    };
    expect((await callTool(client, 'pml_search_tools', search)).structuredContent.tools).toHaveLength(1);
    const listed = await callTool(client, 'pml_suggest', {
      intent: 'echo',
      executed: 'bench:log, bench:echo',
    });
    expect(listed.structuredContent.next).toBeInstanceOf(Array);
    const workflow = JSON.stringify({ tasks: [{ id: 'a', tool: 'bench:count', arguments: '{}' }] });
    const ran = await callTool(client, 'pml_execute_workflow', { workflow });
    expect(ran.structuredContent).toMatchObject({
      status: 'success',
      results: { a: { result: { count: 3 } } },
    });
  });

  test('[MCP-4] say which argument is wrong and what it should be', async () => {
    const { client } = await open({ era });
    const message = async (name: string, args: unknown) => {
      const { isError, structuredContent } = await callTool(client, name, args);
      expect(isError).toBe(true);
      return (structuredContent.error as { message: string }).message;
    };
    expect(await message('pml_search_tools', { qurey: 'x' })).toMatch(
      /query: .*expected string.*Unknown argument "qurey", did you mean "query"\?/,
    );
    expect(await message('pml_execute', { tool: 'bench:echo', arguments: {}, timeoutms: 5 })).toMatch(
      /Unknown argument "timeoutms", did you mean "timeout_ms"\?/,
    );
    expect(await message('pml_search_tools', { query: 'x', limit: 'many' })).toMatch(
      /limit: .*expected number/,
    );
    expect(await message('pml_search_tools', { query: 'x', limit: 99 })).toMatch(/limit: .*<=50/);
    expect(await message('pml_search_tools', 'no json')).toMatch(
      /must be an object, not text that does not parse as JSON/,
    );
    expect(await message('pml_execute', {})).toMatch(/one of tool, code, capability or intent/);
    expect(await message('pml_execute', { tool: 'bench:echo', code: '1' })).toMatch(
      /tool and code cannot be combined/,
    );
    expect(await message('pml_execute', { tool: 'bench:echo', arguments: [1] })).toMatch(/arguments: /);
    expect(await message('pml_execute', { tool: 'bench:ecco', arguments: {} })).toMatch(/bench:ecco/);
    expect(await message('pml_execute_workflow', {})).toMatch(/needs workflow, suggestion_id, or run_id/);
    expect(await message('pml_execute_workflow', { workflow: { tasks: [{}] } })).toMatch(
      /workflow\.tasks\[0\]\.id is missing/,
    );
    expect(await message('pml_execute_workflow', { run_id: 'x', action: 'stop' })).toMatch(/action: .*abort/);
  });

  test('[MCP-5] search returns ids, schemas and scores', async () => {
    const { client } = await open({ era });
    const { structuredContent, content } = await callTool(client, 'pml_search_tools', {
      query: 'says back what it is given',
    });
    expect((structuredContent.tools as unknown[])[0]).toEqual({
      tool_id: 'bench:echo',
      server_id: 'bench',
      description: 'Says back what it is given',
      input_schema: { type: 'object', additionalProperties: true },
      semantic_score: expect.any(Number),
      graph_score: expect.any(Number),
      final_score: expect.any(Number),
      related_tools: [],
    });
    expect(structuredContent.tools).toHaveLength(5);
    expect(content[0]?.text).toMatch(
      /^bench:echo Record<string, unknown> \(\.\d\d\)\n {2}Says back what it is given\nbench:/,
    );
    const whole = await callTool(client, 'pml_search_tools', {
      query: 'bench:echo',
      limit: 1,
      schemas: true,
    });
    expect(whole.content[0]?.text).toContain('{"type":"object","additionalProperties":true}');
    const capabilities = await callTool(client, 'pml_search_capabilities', { query: 'anything' });
    expect(capabilities.structuredContent).toEqual({ capabilities: [] });
  });

  test('[MCP-6] execute returns what the tool returned, as data', async () => {
    const { client, store, gateway } = await open({ era });
    const run = (tool: string, args: object = {}) =>
      callTool(client, 'pml_execute', { tool: `bench:${tool}`, arguments: args, intent: 'try it' });
    const echoed = await run('echo', { text: 'hi' });
    expect(echoed).toMatchObject({
      structuredContent: {
        status: 'success',
        run_id: expect.any(String),
        trace_id: expect.any(String),
        result: { echoed: { text: 'hi' } },
      },
    });
    expect((await run('count')).structuredContent.result).toEqual({ count: 3 });
    expect((await run('plain', { answer: 'just text' })).structuredContent.result).toBe('just text');
    const picture = await run('picture');
    expect(picture.structuredContent.result).toBe('a dot');
    expect(picture.content).toEqual([
      { type: 'text', text: 'a dot' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'pml://bench/bench://note', name: 'note' },
      { type: 'resource_link', uri: 'https://example.test/x', name: 'web' },
    ]);
    await gateway.settled();
    const trace = await store.traces.get(String(echoed.structuredContent.trace_id));
    expect(trace).toMatchObject({ runId: echoed.structuredContent.run_id, intentText: 'try it' });
  });

  test('[MCP-7] failures are results of the tool', async () => {
    const { client } = await open({ era });
    const run = (args: object) => callTool(client, 'pml_execute', args);
    expect(await run({ tool: 'bench:fail' })).toMatchObject({
      isError: true,
      structuredContent: { status: 'error', error: { code: 'tool_failed', message: 'it went wrong' } },
    });
    expect(await run({ tool: 'bench:reject' })).toMatchObject({
      isError: true,
      structuredContent: {
        status: 'error',
        error: { code: 'upstream_error', message: expect.stringContaining('rejected') },
      },
    });
  });

  test('[MCP-8] an intent alone, and pml_suggest, return a plan', async () => {
    const { client } = await open({ era });
    const plan = { tasks: [{ id: 't1', tool: 'bench:echo', depends_on: [] }] };
    const suggested = await callTool(client, 'pml_suggest', { intent: 'says back what it is given' });
    expect(suggested.structuredContent).toMatchObject({ plan, confidence: expect.any(Number) });
    const alone = await callTool(client, 'pml_execute', { intent: 'says back what it is given' });
    expect(alone.structuredContent).toMatchObject({ status: 'suggestion', plan });
  });

  test('[MCP-9] a call that needs approval says what it asks and how a person decides it', async () => {
    const { client, gateway } = await open({ era });
    const call = { tool: 'bench:delete_all', arguments: { path: '/' } };
    const asked = await callTool(client, 'pml_execute', call);
    const runId = String(asked.structuredContent.run_id);
    expect(asked.structuredContent).toMatchObject({
      status: 'approval_required',
      approval: { tool: 'bench:delete_all', arguments: { path: '/' }, state: 'pending' },
      how_to_settle: { approve: `pml runs approve ${runId}` },
    });
    expect(await gateway.settleApproval(runId, 'approved', 'a person')).toBe(true);
    const resumed = await callTool(client, 'pml_execute_workflow', { run_id: runId, action: 'resume' });
    expect(resumed.structuredContent).toMatchObject({ status: 'success', run_id: runId });
  });

  test('[MCP-9] a client with elicitation is asked on the spot', async () => {
    const asked: unknown[] = [];
    const answer = async (_method: string, params: JsonObject) => {
      asked.push(params.message);
      return { action: 'accept', content: { decision: asked.length === 1 ? 'approve' : 'reject' } };
    };
    const { permissions } = settingsFor([]);
    const patient = {
      settings: { permissions: { ...permissions, clientsDecide: true, approvalWaitMs: 30_000 } },
    };
    const capabilities = { elicitation: { form: {} } };
    const { client } = await open({ era, capabilities, answer }, [benchServer()], patient);
    const run = () =>
      callTool(client, 'pml_execute', { tool: 'bench:delete_all', arguments: { n: asked.length } });
    expect((await run()).structuredContent).toMatchObject({ status: 'success', result: 'gone' });
    expect((await run()).structuredContent).toMatchObject({ status: 'error', error: { code: 'forbidden' } });
    expect(asked).toEqual([
      expect.stringContaining('bench:delete_all'),
      expect.stringContaining('bench:delete_all'),
    ]);
  });

  test('[KEY-13] unless clients_decide is on, nobody is asked through the client', async () => {
    const asked: unknown[] = [];
    const answer = async (_method: string, params: JsonObject) => {
      asked.push(params.message);
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const { permissions } = settingsFor([]);
    const strict = { settings: { permissions: { ...permissions, approvalWaitMs: 0 } } };
    const capabilities = { elicitation: { form: {} } };
    const { client } = await open({ era, capabilities, answer }, [benchServer()], strict);
    const call = { tool: 'bench:delete_all', arguments: {} };
    const code = { code: 'return await mcp.bench.delete_all({})' };
    const workflow = { workflow: { tasks: [{ id: 'a', ...call }] } };
    for (const [name, args] of [
      ['pml_execute', call],
      ['pml_execute', code],
      ['pml_execute_workflow', workflow],
    ] as const) {
      const { structuredContent } = await callTool(client, name, args);
      expect(structuredContent.status).toBe('approval_required');
    }
    expect(asked).toEqual([]);
  });

  test('[MCP-10] a workflow runs its tasks and passes results on', async () => {
    const { client } = await open({ era });
    const tasks = [
      { id: 'a', tool: 'bench:count' },
      { id: 'b', tool: 'bench:echo', arguments: { text: '${a.count} things', n: '${a.count}' } },
    ];
    const { structuredContent } = await callTool(client, 'pml_execute_workflow', { workflow: { tasks } });
    expect(structuredContent).toMatchObject({
      status: 'success',
      layers: [['a'], ['b']],
      results: { b: { status: 'success', result: { echoed: { text: '3 things', n: 3 } } } },
      approvals: [],
    });
    const broken = await callTool(client, 'pml_execute_workflow', {
      workflow: { tasks: [{ id: 'a', tool: 'bench:echo', depends_on: ['nothing'] }] },
    });
    expect(broken).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'invalid_argument' } },
    });
  });

  test('[FLOW-28] an agent continues or replans after a layer, and cannot approve its own requests', async () => {
    const { client, gateway } = await open({ era });
    const call = (args: JsonObject) => callTool(client, 'pml_execute_workflow', args);
    const workflow = {
      decide: 'layers',
      tasks: [
        { id: 'a', tool: 'bench:count' },
        { id: 'b', tool: 'bench:echo', arguments: { n: '${a.count}' } },
        { id: 'c', tool: 'bench:delete_all', arguments: { path: '${b.echoed.n}' } },
      ],
    };
    const first = (await call({ workflow })).structuredContent;
    expect(first).toMatchObject({
      status: 'decision_required',
      next: ['b'],
      how_to_go_on: { replan: expect.any(String) },
    });
    const run = { run_id: first.run_id };
    expect((await call({ ...run, action: 'continue' })).structuredContent).toMatchObject({ next: ['c'] });
    const asked = (await call({ ...run, action: 'continue' })).structuredContent;
    expect(asked).toMatchObject({
      status: 'approval_required',
      approvals: [{ tool: 'bench:delete_all', arguments: { path: 3 }, state: 'pending' }],
    });
    for (const action of ['approve', 'edit', 'settle']) {
      expect(await call({ ...run, action })).toMatchObject({ isError: true });
    }
    for (const tool of ['pml:approve', 'pml_approve', 'pml:edit']) {
      expect(await callTool(client, 'pml_execute', { tool, arguments: run })).toMatchObject({
        isError: true,
      });
    }
    const pending = await gateway.store.approvals.list({ runId: String(run.run_id), state: 'pending' });
    expect(pending).toHaveLength(1);
    const replanned = (await call({ ...run, action: 'replan' })).structuredContent;
    expect(replanned).toMatchObject({ status: 'aborted', executed: ['bench:count', 'bench:echo'] });
  });

  test('[MCP-46] text that repeats the structured content is omitted, and its link can be read', async () => {
    const text = 'a line of a file\n'.repeat(4_000);
    const read = {
      definition: { name: 'read', inputSchema: { type: 'object' } },
      call: async () => ({ content: [{ type: 'text', text }], structuredContent: { content: text } }),
    };
    const { client } = await open({ era }, [{ name: 'files', tools: [read] }]);
    const { content } = await callTool(client, 'pml_execute', { tool: 'files:read', arguments: {} });
    expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    const { contents } = await rawRequest(client, 'resources/read', { uri: content[1]?.uri });
    expect((contents as { text: string }[])[0]?.text).toContain(text.slice(0, 10));
  });

  test('[MCP-11] a result that is too large becomes a preview, and can be read in full', async () => {
    const { client } = await open({ era });
    const run = async (args: object) =>
      await callTool(client, 'pml_execute', { tool: 'bench:huge', arguments: args });
    const small = await run({ chars: 9_000 });
    expect(small.structuredContent.result).toHaveLength(9_000);

    const large = await run({ chars: 50_000 });
    const preview = String(large.structuredContent.result);
    expect(preview.length).toBeLessThan(6_000);
    expect(preview).toMatch(/^äö🙂x.*of 50000 characters \(\d+ bytes\) omitted.*$/s);
    expect(preview.isWellFormed()).toBe(true);
    const link = large.content.at(-1);
    expect(link).toMatchObject({ type: 'resource_link', uri: expect.stringMatching(/^pml:\/\/results\//) });
    const read = await rawRequest(client, 'resources/read', { uri: link?.uri });
    const [whole] = read.contents as { text: string; mimeType: string }[];
    expect(whole).toMatchObject({ mimeType: 'text/plain' });
    expect(whole?.text).toHaveLength(50_000);

    let together = '';
    for (let offset: number | null = 0; offset !== null; ) {
      const args = { id: String(link?.uri), offset: String(offset), limit: 10_000 };
      const slice = await callTool(client, 'pml_execute', { tool: 'pml:read_result', arguments: args });
      const part = slice.structuredContent.result as { text: string; next_offset: number | null };
      expect(part.text.isWellFormed()).toBe(true);
      together += part.text;
      offset = part.next_offset;
    }
    expect(together).toBe(whole?.text);

    const data = (await run({ chars: 50_000, json: true })).structuredContent.result as { uri: string };
    expect(data).toMatchObject({
      truncated: true,
      bytes: expect.any(Number),
      preview: { head: expect.stringMatching(/^{"long":"äö/) },
    });
    const readData = await rawRequest(client, 'resources/read', { uri: data.uri });
    const [json] = readData.contents as { text: string; mimeType: string }[];
    expect(json?.mimeType).toBe('application/json');
    expect(JSON.parse(json?.text ?? '').long).toHaveLength(50_000);

    const code = 'const all = await mcp.pml.read_result({ id: args.id }); return (all.long ?? all).length';
    for (const id of [link?.uri, data.uri]) {
      const lengths = await callTool(client, 'pml_execute', { code, arguments: { id } });
      expect(lengths.structuredContent.result).toBe(50_000);
    }

    const tasks = Array.from({ length: 10 }, (_, at) => ({
      id: `t${at}`,
      tool: 'bench:huge',
      arguments: { chars: 9_000 },
    }));
    const flow = await callTool(client, 'pml_execute_workflow', { workflow: { tasks } });
    expect(JSON.stringify(flow.structuredContent).length).toBeLessThan(32 * 1024);
    expect(flow.content.filter(({ type }) => type === 'resource_link')).toHaveLength(10);

    const gone = { id: '00000000-0000-0000-0000-000000000000' };
    const missing = await callTool(client, 'pml_execute', { tool: 'pml:read_result', arguments: gone });
    expect(missing).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } });
    const lost = await callTool(client, 'pml_execute', { code, arguments: gone });
    expect(lost.structuredContent.error).toMatchObject({
      message: expect.stringMatching(/pml:read_result: Result .* not found/),
    });
  });
});
