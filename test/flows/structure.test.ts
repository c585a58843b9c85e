import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { getStructure } from '../../src/operations/get-structure.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { startHttp } from '../support/http-gateway.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway } from '../support/test-gateway.ts';

const PROGRAM = `const text = await mcp.fs.read({ path: args.path, lines: 3 });
if (text.length > 3) await mcp.mail.send({ body: text });
await mcp.fs[args.tool]({});
`;

test('[STRUCT-11] the structure of a program is read over HTTP and printed by "pml structure"', async () => {
  const { gateway } = await testGateway({});
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  const post = async (code: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ code });
    const reply = await fetch(`${listener.url}/api/structure`, { method: 'POST', headers, body });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  const { status, body } = await post(PROGRAM);
  expect(status).toBe(200);
  expect(getStructure.output.parse(body)).toEqual(body);
  expect(body.nodes).toMatchObject([
    { type: 'task', name: 'fs:read', depth: 0, arguments: { path: 'args.path', lines: '3' } },
    { type: 'decision', name: 'text.length > 3', depth: 0, branch: null },
    { type: 'task', name: 'mail:send', depth: 1, branch: 'true', at: { line: 2 } },
  ]);
  const [read, , send] = body.nodes;
  expect(body.edges).toContainEqual({
    from: read.id,
    to: send.id,
    type: 'provides',
    branch: null,
    argument: 'body',
  });
  expect(body.unresolved).toMatchObject([{ at: { line: 3 }, reason: expect.any(String) }]);
  expect(await post('return (')).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_argument', message: expect.stringMatching(/^Line 1, column \d+: /) } },
  });

  const dir = await temporaryDir();
  const file = join(dir, 'program.ts');
  await writeFile(file, PROGRAM);
  const pml = (...argv: string[]) => runCommand(argv, { openGateway: async () => openedGateway(gateway) });
  const { code, out } = await pml('structure', file);
  expect(code).toBe(0);
  expect(out).toMatch(/^ {2}1:\d+ +n1 +task fs:read +path = args\.path, lines = 3$/m);
  expect(out).toMatch(/^ {2}2:\d+ +n3 + {2}\[true\] task mail:send +body = n1$/m);
  expect(out).toMatch(/\nKnown only at run time\n {2}3:\d+ +\S/);
  expect(JSON.parse((await pml('structure', file, '--json')).out)).toEqual(body);
});
