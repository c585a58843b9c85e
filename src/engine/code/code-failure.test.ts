import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NOBODY, testGateway, tool } from '../../../test/support/test-gateway.ts';

test.each([
  ['return await fetch("http://x")', /no network.*mcp\.server\.tool/],
  ['const fs = require("fs"); return fs', /no Node\.js.*mcp\.server\.tool/],
  ['setTimeout(() => {}, 10)', /no timers/],
  ['return await files.read({})', /await mcp\.files\.tool\(args\)/],
  ['return await mcp.call("files", "read")', /by its server and name/],
  ['throw new Error("files is not defined")', undefined],
])('[CODE-24] %s', async (code, hint) => {
  const { gateway } = await testGateway({
    servers: [{ name: 'files', tools: [tool('read', () => 'text')] }],
  });
  const run = await gateway.executeCode({ code }, NOBODY);
  expect(run.status).toBe('error');
  const told = run.error?.hint;
  if (hint === undefined) expect(told).toBeUndefined();
  else expect(told).toMatch(hint);
});

const FILES = { servers: [{ name: 'files', tools: [tool('read', () => 'text')] }] };

test('[CODE-25] a function that is the whole program, and a promise at its end, are run to their result', async () => {
  const { gateway } = await testGateway(FILES);
  const cases = [
    ['async () => { return await mcp.files.read({}) }', 'text'],
    ['(async () => {\n  const a = await mcp.files.read({});\n  return a;\n});', 'text'],
    ['async (args) => await mcp.files.read(args)', 'text'],
    ['// reads\nasync function main() { return await mcp.files.read({}) }', 'text'],
    ['async function main() { return await mcp.files.read({}) }\nmain()', 'text'],
    ['const main = async () => mcp.files.read({})\nmain().then((text) => text + "!")', 'text!'],
    ['(async () => { return await mcp.files.read({}) })();', 'text'],
    ['mcp.files.read({})', 'text'],
    ['Promise.all([mcp.files.read({}), 1])', ['text', 1]],
    ['const n = 1\nconsole.log(n)', null],
    ['await mcp.files.read({})', null],
  ] as const;
  for (const [code, result] of cases) {
    const run = await gateway.executeCode({ code }, NOBODY);
    expect(run, code).toMatchObject({ status: 'success', result });
    expect(run.toolsUsed, code).toEqual(code.startsWith('const n') ? [] : ['files:read']);
  }

  // Places stay those of the text.
  const placed = '/* a */ async () => {\n  const x = 1;\n  throw new Error("here");\n}';
  const failed = await gateway.executeCode({ code: placed }, NOBODY);
  expect(failed.error).toMatchObject({ line: 3, column: 9 });

  const own = 'async ({ path }) => mcp.files.read({ path })';
  const refused = await gateway.executeCode({ code: own }, NOBODY);
  expect(refused.error).toMatchObject({
    message: expect.stringContaining('a function that nothing calls'),
    hint: expect.stringContaining('args'),
  });
});

test('[CODE-26] the uncaught error of a tool names the tool', async () => {
  const fails = tool('write', () => {
    throw new Error('disk full');
  });
  const { gateway } = await testGateway({ servers: [{ name: 'files', tools: [fails] }] });
  const run = await gateway.executeCode({ code: 'return await mcp.files.write({})' }, NOBODY);
  expect(run.error?.message).toMatch(/^ToolError: files:write: .*disk full/);
  const caught = await gateway.executeCode(
    { code: 'try { await mcp.files.write({}) } catch (e) { return [e.tool, e.message] }' },
    NOBODY,
  );
  expect(caught.result).toEqual(['files:write', expect.not.stringContaining('files:write')]);
});

test('[CODE-27] the caller of a program is notified of every call that ends', async () => {
  const { gateway } = await testGateway(FILES);
  const told: unknown[] = [];
  const code = 'await mcp.files.read({}); return mcp.files.read({})';
  await gateway.executeCode({ code }, { ...NOBODY, onProgress: (progress) => told.push(progress) });
  expect(told).toEqual([
    { progress: 1, message: 'files:read done' },
    { progress: 2, message: 'files:read done' },
  ]);
});

test('[CODE-20] the error for a program that exceeds its own timeout_ms says so, and does not suggest the configuration', async () => {
  // Not many short calls: on a fast machine, the limit of calls would come first.
  const wait = tool('wait', () => setTimeout(60_000, null, { ref: false }));
  const { gateway } = await testGateway({ servers: [{ name: 'files', tools: [wait] }] });
  const run = await gateway.executeCode({ code: 'await mcp.files.wait({})', timeoutMs: 50 }, NOBODY);
  expect(run.error?.message).toMatch(
    /longer than 50 ms, the timeout_ms of this call; at most [\d,]+ are allowed/,
  );
  expect(run.error?.message).not.toContain('wall_ms');
});
