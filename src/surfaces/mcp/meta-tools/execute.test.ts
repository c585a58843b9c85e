import { expect, test } from 'vitest';
import { serverlessGateway } from '../../../../test/support/hand-made-gateway.ts';
import {
  callTool,
  connectClient,
  fetchInto,
  openEndpoints,
  type ToolAnswer,
} from '../../../../test/support/mcp-endpoints.ts';
import { sampleApproval, sampleResult, sampleTool } from '../../../../test/support/samples.ts';
import type { SearchQuery } from '../../../engine/catalogue/search.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { RunResult } from '../../../engine/runs/run.ts';
import type { CapabilityCall, CodeCall } from '../../../engine/runs/run-requests.ts';
import { unfenced } from './execute.ts';

const RUN = sampleResult({ result: { sum: 3 } });

async function open(gives: Partial<RunResult> = {}, parts: Partial<Gateway> = {}) {
  const asked: (CodeCall | CapabilityCall)[] = [];
  const run = async (call: CodeCall | CapabilityCall) => {
    asked.push(call);
    return { ...RUN, ...gives };
  };
  const gateway = serverlessGateway({ executeCode: run, executeCapability: run, ...parts });
  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'legacy' });
  const execute = (args: object): Promise<ToolAnswer> => callTool(client, 'pml_execute', args);
  return { asked, client, execute };
}

test('[MCP-27] code and capabilities run with arguments, intent and time limit', async () => {
  const { asked, execute } = await open();
  const more = { arguments: '{"n": 1}', intent: 'add', timeout_ms: 500 };
  const ran = await execute({ code: 'return args.n', ...more });
  expect(ran.structuredContent).toEqual({
    status: 'success',
    run_id: 'run-1',
    trace_id: 'trace-1',
    result: { sum: 3 },
  });
  expect(ran.content).toEqual([{ type: 'text', text: '{"sum":3}' }]);
  await execute({ capability: 'add_up', ...more });
  const rest = { arguments: { n: 1 }, intent: 'add', timeoutMs: 500 };
  expect(asked).toEqual([
    { code: 'return args.n', ...rest },
    { capability: 'add_up', ...rest },
  ]);
});

test('[MCP-27] code may be fenced', async () => {
  for (const fenced of [
    '```ts\nreturn 1;\n```',
    '\n```typescript\nreturn 1;\n  ```\n',
    '```\nreturn 1;```',
  ]) {
    expect(unfenced(fenced)).toBe('return 1;');
  }
  const inner = 'return `a\n```ts\nb\n``` c`;';
  expect(unfenced(inner)).toBe(inner);
  expect(unfenced('```ts\nconst a = 1;\n\nreturn a;\n```')).toBe('const a = 1;\n\nreturn a;');
  const { asked, execute } = await open();
  await execute({ code: '```js\nreturn 1\n```' });
  expect(asked).toMatchObject([{ code: 'return 1' }]);
});

test('[MCP-28] a program without a result returns null; its output comes with it', async () => {
  const { execute } = await open({
    result: undefined,
    console: [
      { level: 'log', text: 'one' },
      { level: 'warn', text: 'two' },
    ],
  });
  const { structuredContent } = await execute({ code: 'console.log("one")' });
  expect(structuredContent).toMatchObject({ result: null, console: 'one\nwarn: two' });
});

test('[MCP-40] a failure has its place in the code', async () => {
  const error = { code: 'code_failed', message: 'Error: no', hint: 'Think.', line: 2, column: 7 } as const;
  const { execute } = await open({ status: 'error', error, console: [{ level: 'log', text: 'so far' }] });
  const failed = await execute({ code: 'x' });
  expect(failed.isError).toBe(true);
  expect(failed.structuredContent).toEqual({
    status: 'error',
    run_id: 'run-1',
    trace_id: 'trace-1',
    console: 'so far',
    error,
  });
});

test('[MCP-41] a result or console output that is too large becomes a preview', async () => {
  const { execute, client } = await open({
    result: { rows: 'x'.repeat(100_000) },
    console: [{ level: 'log', text: 'y'.repeat(100_000) }],
  });
  const ran = await execute({ code: 'x' });
  expect(JSON.stringify(ran.structuredContent).length).toBeLessThan(16_000);
  expect(ran.structuredContent).toMatchObject({
    result: { truncated: true },
    console: expect.stringContaining('of 100000 characters'),
  });
  const links = ran.content.filter(({ type }) => type === 'resource_link');
  const wholes = await Promise.all(links.map(({ uri }) => client.readResource({ uri: String(uri) })));
  expect(wholes.map(({ contents }) => (contents[0] as { text: string }).text.length)).toEqual([
    100_011, 100_000,
  ]);
});

test('[MCP-42] code that needs approval says what it asks and how to continue', async () => {
  const approval = sampleApproval({ runId: 'run-1' });
  const { execute } = await open({ status: 'approval_required', approvals: [approval], result: undefined });
  const asked = await execute({ code: 'x' });
  expect(asked.isError).toBeUndefined();
  expect(asked.structuredContent).toMatchObject({
    status: 'approval_required',
    approval: { tool: approval.node, arguments: approval.arguments },
    how_to_settle: { approve: 'pml runs approve run-1', afterwards: expect.stringContaining('"resume"') },
  });
  expect(asked.structuredContent).not.toHaveProperty('result');
});

test('[MCP-29] search returns TypeScript signatures on request; tools that code used are its context', async () => {
  const queries: SearchQuery[] = [];
  const parts = { whole: 0, clause: 0, lexical: 0, name: 0, alpha: 1 };
  const scores = { semanticScore: 0, graphScore: 0, finalScore: 0, parts, related: [] };
  const { execute, client } = await open(
    { toolsUsed: ['a:one', 'a:two'] },
    {
      async searchTools(query) {
        queries.push(query);
        const signature = query.signatures ? { signature: 'mcp.a.one(args: {}): Promise<string>' } : {};
        return [{ tool: sampleTool('a', 'one'), ...signature, ...scores }];
      },
    },
  );
  await execute({ code: 'x' });
  const plain = await callTool(client, 'pml_search_tools', { query: 'one' });
  const typed = await callTool(client, 'pml_search_tools', { query: 'one', signatures: true });
  expect(queries.map(({ signatures = false, contextTools }) => ({ signatures, contextTools }))).toEqual([
    { signatures: false, contextTools: ['a:one', 'a:two'] },
    { signatures: true, contextTools: ['a:one', 'a:two'] },
  ]);
  expect((plain.structuredContent.tools as object[])[0]).not.toHaveProperty('signature');
  expect((typed.structuredContent.tools as object[])[0]).toMatchObject({
    signature: 'mcp.a.one(args: {}): Promise<string>',
  });
});
