import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../src/engine/runs/run.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const PATH_SCHEMA = {
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** Files, and how often each tool was called. */
function files(): { server: MemoryServer; calls: string[] } {
  const calls: string[] = [];
  const seen = (name: string, give: unknown, more = {}) =>
    tool(
      name,
      ({ path }) => {
        calls.push(`${name} ${path}`);
        return give;
      },
      { ...PATH_SCHEMA, ...more },
    );
  const tools = [
    seen('read', { text: 'hello', size: 5 }, { annotations: { readOnlyHint: true } }),
    seen('write', 'written'),
    seen('remove', 'removed', { annotations: { destructiveHint: true } }),
  ];
  return { server: { name: 'fs', tools }, calls };
}

const permissions = { ...settingsFor([]).permissions, approvalWaitMs: 20 };

describe('before anything runs', () => {
  test('[CODE-5] an unknown tool and a missing argument are reported with the nearest match, and nothing is called', async () => {
    const { server, calls } = files();
    const { gateway } = await testGateway({ servers: [server] });
    const code = `
await mcp.fs.write({ path: 'a' });
await mcp.fs.raed({ path: 'a' });
await mcp.fs.read({ paht: 'a' });
await mcp.fs.read({ path: 7 });
await capabilities.no_such_thing();`;
    const run = await gateway.executeCode({ code }, NOBODY);
    expect(run).toMatchObject({ status: 'error', error: { code: 'invalid_argument', line: 3 } });
    expect(run.error?.message).toContain('line 3: Tool fs:raed not found (Did you mean fs:read?)');
    expect(run.error?.message).toContain(
      'line 4: fs:read lacks the argument "path"; "paht" is not one of its arguments',
    );
    expect(run.error?.message).toMatch(/line 5: fs:read takes a different "path"/);
    expect(run.error?.message).toContain('line 6: Capability no_such_thing not found');
    expect(calls).toEqual([]);
  });

  test('[CODE-8] a denied tool is refused, and approval is requested for a visible call that needs it', async () => {
    const { server, calls } = files();
    const settings = { permissions: { ...permissions, deny: ['fs:write'], approvalWaitMs: 20 } };
    const { gateway } = await testGateway({ servers: [server], settings });
    const denied = await gateway.executeCode(
      { code: 'await mcp.fs.read({ path: "a" }); await mcp.fs.write({ path: "b" })' },
      NOBODY,
    );
    expect(denied).toMatchObject({ status: 'error', error: { code: 'forbidden' } });
    const asked = await gateway.executeCode(
      { code: 'await mcp.fs.read({ path: "a" }); return await mcp.fs.remove({ path: "b" })' },
      NOBODY,
    );
    expect(asked).toMatchObject({ status: 'approval_required', approvals: [{ arguments: { path: 'b' } }] });
    expect(calls).toEqual([]);
    await gateway.settleApproval(asked.runId, 'approved', 'test');
    const resumed = await gateway.continueRun(asked.runId, 'resume', NOBODY);
    expect(resumed).toMatchObject({ status: 'success', results: { call: { result: 'removed' } } });
    expect(calls).toEqual(['read a', 'remove b']);
  });
});

describe('approvals met during a run', () => {
  const CODE = `
const { text } = await mcp.fs.read({ path: 'a' });
await mcp.fs.write({ path: text });
const gone = await mcp.fs.remove({ path: text + '.old' });
return [text, gone];`;

  test('[CODE-9] the run ends, waits for a person, and continues without repeating a finished call', async () => {
    const { server, calls } = files();
    const { gateway } = await testGateway({ servers: [server], settings: { permissions } });
    const run = await gateway.executeCode({ code: CODE }, NOBODY);
    expect(run).toMatchObject({
      status: 'approval_required',
      approvals: [{ arguments: { path: 'hello.old' } }],
    });
    expect(calls).toEqual(['read a', 'write hello']);
    expect(await gateway.continueRun(run.runId, 'resume', NOBODY)).toMatchObject({
      status: 'approval_required',
    });
    await gateway.settleApproval(run.runId, 'approved', 'test');
    const resumed = await gateway.continueRun(run.runId, 'resume', NOBODY);
    expect(resumed.error).toBeUndefined();
    expect(resumed).toMatchObject({ status: 'success', results: { call: { result: ['hello', 'removed'] } } });
    expect(calls).toEqual(['read a', 'write hello', 'remove hello.old']);
  });

  test('[CODE-9] a timely answer lets the run continue as if nothing had happened', async () => {
    const { server } = files();
    const settings = { permissions: { ...permissions, approvalWaitMs: 60_000 } };
    const { gateway, store } = await testGateway({ servers: [server], settings });
    const running = gateway.executeCode({ code: CODE }, NOBODY);
    let [approval] = await store.approvals.list({ state: 'pending' });
    while (!approval) {
      await setTimeout(5);
      [approval] = await store.approvals.list({ state: 'pending' });
    }
    await gateway.settleApproval(approval.runId, 'approved', 'test');
    expect(await running).toMatchObject({ status: 'success', result: ['hello', 'removed'] });
  });

  test('[CODE-22] a resumed run that takes another path fails, and says where', async () => {
    const { server, calls } = files();
    const { gateway, store } = await testGateway({ servers: [server], settings: { permissions } });
    const run = await gateway.executeCode({ code: CODE }, NOBODY);
    const paused = await store.runs.get(run.runId);
    const task = paused!.tasks.call as { standing: { calls: { argumentsHash: string }[] } };
    task.standing.calls[1]!.argumentsHash = 'of other arguments';
    await store.runs.update({ ...paused!, version: paused!.version + 1 });
    await gateway.settleApproval(run.runId, 'approved', 'test');
    const resumed = await gateway.continueRun(run.runId, 'resume', NOBODY);
    expect(resumed).toMatchObject({ status: 'error', error: { code: 'replay_differs' } });
    expect(calls).toEqual(['read a', 'write hello']);
  });
});

describe('errors', () => {
  const run = async (code: string, limits = {}): Promise<RunResult & { traced: boolean }> => {
    const { server } = files();
    const sandbox = { ...settingsFor([]).sandbox, ...limits };
    const { gateway, store } = await testGateway({ servers: [server], settings: { sandbox } });
    const made = await gateway.executeCode({ code }, NOBODY);
    const trace = await store.traces.get(made.traceId ?? '');
    return { ...made, traced: trace?.success === false && trace.errorMessage === made.error?.message };
  };

  test('[CODE-6] a guest’s error has its line and column in the source as it was written', async () => {
    const failed = await run(`interface User { name: string }
const users: User[] = [{ name: 'Ada' }];
const names = users
  .map((user): string => user.name)
  .filter((name) => (name as any).first.length > 0); // 🎈
return names;`);
    expect(failed.error).toMatchObject({ code: 'code_failed', line: 5, column: 41 });
    expect(failed.error?.message).toMatch(
      /^TypeError: .*first.*\(line 5, column 41\)$|^TypeError: .*length.*\(line 5, column 41\)$/,
    );
  });

  test('[CODE-21] a tool’s error can be caught by its fields, and names the tool when it is not caught', async () => {
    const server = {
      name: 'fs',
      tools: [
        {
          definition: { name: 'read', description: '', inputSchema: { type: 'object' } },
          call: async () => ({
            content: [{ type: 'text' as const, text: 'ENOENT: no such file' }],
            isError: true,
          }),
        },
      ],
    };
    const { gateway } = await testGateway({ servers: [server] });
    const caught = await gateway.executeCode(
      { code: 'try { await mcp.fs.read({}) } catch (e) { return [e.name, e.code, e.message] }' },
      NOBODY,
    );
    expect(caught.result).toEqual(['ToolError', 'tool_failed', 'ENOENT: no such file']);
    const thrown = await gateway.executeCode({ code: '\nawait mcp.fs.read({})' }, NOBODY);
    expect(thrown.error).toMatchObject({
      line: 2,
      message: expect.stringContaining('ToolError: fs:read: ENOENT: no such file'),
    });
  });

  test.each([
    ['a syntax error', 'const x = ;', /Unexpected token.*line 1, column 11/],
    ['no TypeScript', 'SELECT * FROM users;', /line 1/],
    ['empty code', ' \n', /No code/],
    ['nothing but a comment', '// nothing\n', /No code/],
    ['an import', 'import fs from "node:fs"', /cannot import/],
    ['a promise never settled', 'await new Promise(() => {})', /never|settle|wait/i],
    ['a thrown number', 'throw 42', /42/],
    ['a thrown null', 'throw null', /null/],
    ['a returned function', 'return () => 1', /function/],
    ['a nested function', 'return { a: [() => 1] }', /a\[0\].*function|function.*a\[0\]/],
    ['a cycle', 'const a = {}; a.self = a; return a', /cycle|circular|itself/i],
    ['too many calls', 'for (let i = 0; i < 500; i++) await mcp.fs.read({ path: "a" })', /calls_total|100/],
  ])('[CODE-7] %s is reported in clear words and traced', async (_, code, message) => {
    const failed = await run(code);
    expect(failed.status).toBe('error');
    expect(failed.error?.message).toMatch(message);
    expect(failed.traced).toBe(true);
  });

  test('[CODE-7] an endless loop is reported in clear words and traced', async () => {
    const failed = await run('for (;;) {}', { cpuMs: 500 });
    expect(failed).toMatchObject({ status: 'error', traced: true });
    expect(failed.error?.message).toMatch(/cpu_ms/);
  });

  test('[CODE-7] long code runs, a megabyte is refused', async () => {
    const { gateway, store } = await testGateway();
    const line = '{ const x = 1; } // a comment of no consequence\n';
    const code = `${line.repeat(Math.floor(240_000 / line.length))} return 'done'`;
    expect(await gateway.executeCode({ code }, NOBODY)).toMatchObject({ status: 'success', result: 'done' });
    const refused = await gateway.executeCode({ code: code + line.repeat(20_000) }, NOBODY);
    expect(refused.error).toMatchObject({ code: 'too_large', message: expect.stringContaining('250000') });
    expect(await store.traces.get(refused.traceId ?? '')).toMatchObject({ success: false });
  });
});

test('[CODE-10] a client that cancels stops the guest and its active calls', async () => {
  let begun = 0;
  let ended = 0;
  const slow = {
    definition: { name: 'wait', description: '', inputSchema: { type: 'object' } },
    call: async (_: unknown, { signal }: { signal: AbortSignal }) => {
      begun++;
      await setTimeout(60_000, undefined, { signal }).catch(() => ended++);
      return { content: [] };
    },
  };
  const { gateway, store } = await testGateway({ servers: [{ name: 'slow', tools: [slow] }] });
  const cancelling = new AbortController();
  const running = gateway.executeCode(
    { code: 'await mcp.slow.wait({}); return 1' },
    { sessionId: null, signal: cancelling.signal },
  );
  await expect.poll(() => begun).toBe(1);
  cancelling.abort();
  const run = await running;
  expect(run).toMatchObject({ status: 'error', error: { code: 'cancelled' } });
  await expect.poll(() => ended).toBe(1);
  expect(await store.traces.get(run.traceId ?? '')).toMatchObject({ success: false });
});

describe('capabilities within capabilities', () => {
  test('[CODE-13] a cycle is refused with its path', async () => {
    const { gateway } = await testGateway({
      capabilities: [
        { slug: 'ping', code: 'return await capabilities.pong()' },
        { slug: 'pong', code: 'return await capabilities.ping()' },
      ],
    });
    const run = await gateway.executeCapability({ capability: 'ping', arguments: {} }, NOBODY);
    expect(run.error?.message).toContain('ping → pong → ping');
  });

  test('[CODE-13] nesting deeper than eight is refused with its path', async () => {
    const capabilities = Array.from({ length: 10 }, (_, i) => ({
      slug: `step_${i}`,
      code: i === 9 ? 'return "bottom"' : `return await capabilities.step_${i + 1}()`,
    }));
    const { gateway } = await testGateway({ capabilities });
    const run = await gateway.executeCode({ code: 'return await capabilities.step_2()' }, NOBODY);
    expect(run.result).toBe('bottom');
    const deep = await gateway.executeCode({ code: 'return await capabilities.step_0()' }, NOBODY);
    expect(deep.error?.message).toMatch(/nested deeper than 8: step_0 → .* → step_8/);
  });

  test('[CODE-6] a capability’s error has its place in the capability and in the code that called it', async () => {
    const bad = {
      slug: 'bad',
      code: 'const n: number = 1;\nconst x = [n].map((m) => m);\nthrow new Error(`no ${x}`)',
    };
    const { gateway } = await testGateway({ capabilities: [bad] });
    const run = await gateway.executeCode({ code: '\nreturn await capabilities.bad()' }, NOBODY);
    expect(run.error).toMatchObject({ line: 2 });
    expect(run.error?.message).toMatch(
      /^CapabilityError: no 1 \(bad\.ts line 3, column 7\) \(line 2, column \d+\)$/,
    );
  });

  test('[CODE-14] a quarantined one cannot be called, and says why', async () => {
    const evidence = {
      recent: [],
      runIds: [],
      definitionHashes: {},
      intents: [],
      quarantinedBecause: 'it failed too often',
    };
    const { gateway } = await testGateway({
      capabilities: [{ slug: 'bad', state: 'quarantined', evidence }],
    });
    const run = await gateway.executeCode({ code: 'return await capabilities.bad()' }, NOBODY);
    expect(run.error?.message).toContain('bad is quarantined: it failed too often');
  });
});
