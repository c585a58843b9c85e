import { describe, expect, test } from 'vitest';
import { benchServer } from '../support/mcp-bench-server.ts';
import {
  type ConnectOptions,
  callTool,
  connectClient,
  ERAS,
  fetchInto,
  openEndpoints,
} from '../support/mcp-endpoints.ts';
import type { TestGatewayOptions } from '../support/open-test-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway } from '../support/test-gateway.ts';

const BOTH = `\`\`\`ts
const [a, b]: unknown[] = await Promise.all([mcp.bench.count({}), mcp.bench.echo({ text: args.text })]);
console.log('both are there');
return { a, b };
\`\`\``;

async function open(options: ConnectOptions, over: TestGatewayOptions = {}) {
  const bench = benchServer();
  const { gateway, store } = await testGateway({ servers: [bench], ...over });
  const client = await connectClient(fetchInto(openEndpoints(gateway)), options);
  const execute = async (args: object, more = {}) =>
    (await callTool(client, 'pml_execute', args, more)).structuredContent;
  return { bench, client, execute, gateway, store };
}

describe.each(ERAS)('code through /mcp, %s', (era) => {
  test('[MCP-27] [MCP-28] one program makes several calls; its trace has both, under the session', async () => {
    const { execute, store } = await open({ era });
    const ran = await execute({ code: BOTH, arguments: { text: 'hi' }, intent: 'see both' });
    expect(ran).toMatchObject({
      status: 'success',
      result: { a: { count: 3 }, b: { echoed: { text: 'hi' } } },
      console: 'both are there',
    });
    const trace = await store.traces.get(String(ran.trace_id));
    expect(trace).toMatchObject({ runId: ran.run_id, intentText: 'see both', success: true });
    expect(trace?.toolInvocations.map(({ tool }) => tool).sort()).toEqual(['bench:count', 'bench:echo']);
  });

  test('[MCP-40] problems are reported before anything is called', async () => {
    const { execute, bench } = await open({ era });
    const wrong = await execute({ code: 'await mcp.bench.count({});\nawait mcp.bench.ecco({});' });
    expect(wrong).toMatchObject({
      status: 'error',
      error: { code: 'not_found', line: 2, message: expect.stringContaining('Did you mean bench:echo?') },
    });
    const syntax = await execute({ code: 'return (;' });
    expect(syntax).toMatchObject({ status: 'error', error: { line: 1, column: expect.any(Number) } });
    expect(bench.seen.calls).toBe(0);
    expect(await execute({ capability: 'none' })).toMatchObject({
      status: 'error',
      error: { code: 'not_found' },
    });
  });

  test('[MCP-29] search returns signatures with the tools', async () => {
    const { client } = await open({ era });
    const { structuredContent } = await callTool(client, 'pml_search_tools', {
      query: 'echo',
      signatures: true,
    });
    expect((structuredContent.tools as { signature: string }[])[0]?.signature).toContain('mcp.bench.echo(');
  });

  test('[MCP-14] cancelling code cancels its calls', async () => {
    const { client, bench } = await open({ era });
    const leaving = new AbortController();
    const running = callTool(
      client,
      'pml_execute',
      { code: 'return await mcp.bench.hang({});', timeout_ms: 60_000 },
      { signal: leaving.signal },
    );
    await expect.poll(() => bench.seen.calls).toBe(1);
    leaving.abort();
    await expect(running).rejects.toThrow();
    await expect.poll(() => bench.seen.cancelled).toBe(1);
  });

  test('[MCP-9] code that needs approval continues once a person approves', async () => {
    const { client, execute, gateway } = await open({ era });
    const asked = await execute({ code: 'return await mcp.bench.delete_all({ path: "/" });' });
    expect(asked).toMatchObject({ status: 'approval_required', approval: { tool: 'bench:delete_all' } });
    const run = { run_id: asked.run_id };
    const status = await callTool(client, 'pml_execute_workflow', { ...run, action: 'status' });
    expect(status.structuredContent.results).toEqual({
      call: { status: 'waiting', approval_id: expect.any(String) },
    });
    expect(await gateway.settleApproval(String(asked.run_id), 'approved', 'a person')).toBe(true);
    const resumed = await callTool(client, 'pml_execute_workflow', { ...run, action: 'resume' });
    expect(resumed.structuredContent).toMatchObject({
      status: 'success',
      results: { call: { result: 'gone' } },
    });
  });

  test('[MCP-9] a client with elicitation is asked while the code waits', async () => {
    const { permissions } = settingsFor([]);
    const { execute } = await open(
      {
        era,
        capabilities: { elicitation: { form: {} } },
        answer: async () => ({ action: 'accept', content: { decision: 'approve' } }),
      },
      { settings: { permissions: { ...permissions, clientsDecide: true, approvalWaitMs: 30_000 } } },
    );
    const code =
      'const { count } = await mcp.bench.count({});\nreturn await mcp.bench.delete_all({ count });';
    expect(await execute({ code })).toMatchObject({ status: 'success', result: 'gone' });
  });
});
