import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, test } from 'vitest';
import { callTool, connectClient, ERAS } from '../support/mcp-endpoints.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const DB_SERVER = fileURLToPath(new URL('../fixtures/servers/db-server.ts', import.meta.url));
const TOTAL = `const rows = await mcp.db.query({ sql: 'SELECT name, active, spent FROM users' });
const active = rows.filter((user) => user.active === 1);
console.log(\`\${active.length} of \${rows.length} are active\`);
return active.reduce((sum, user) => sum + user.spent, 0);
`;

/** A data dir with a database server, and `pml` on it. */
async function home(permissions: object = {}) {
  const dir = await temporaryDir();
  const config = {
    mcpServers: { db: { command: process.execPath, args: [DB_SERVER] } },
    pml: { permissions },
  };
  await writeFile(join(dir, 'pml.json'), JSON.stringify(config));
  const where = ['--data', dir, '--config', join(dir, 'pml.json')];
  const write = async (name: string, code: string) => {
    await writeFile(join(dir, name), code);
    return join(dir, name);
  };
  return {
    dir,
    write,
    pml: (...args: string[]) => runPml([...args, ...where], { cwd: dir }),
    serve: () => startPml(['serve', '--port', '0', ...where], { cwd: dir }),
  };
}

test('[RUN-1] [RUN-2] a program runs without a running gateway, and its errors have its own lines', async () => {
  const { pml, write } = await home();
  const file = await write('total.ts', TOTAL);
  expect(await pml('run', file)).toEqual({ code: 0, stdout: '200\n', stderr: '3 of 4 are active\n' });

  const wrong = await write('wrong.ts', `const { rows } = await mcp.db.qurey({ sql: 'SELECT 1' });\n`);
  const refused = await pml('run', wrong);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`${wrong}:1:`);
  expect(refused.stderr).toContain('Did you mean db:query?');

  const broken = await write('broken.ts', 'type A = { a: number };\nconst a: A = args;\nreturn a.b.c;\n');
  const failed = await pml('run', broken, '--json');
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    status: 'error',
    trace_id: expect.any(String),
    error: { code: 'code_failed', line: 3 },
  });
});

test('[RUN-3] [RUNS-5] a run that needs approval is approved and continued from the terminal', async () => {
  const { pml, write, serve } = await home({ ask: ['db:*'], approval_wait_ms: 3_600_000 });
  await serve();
  const asked = await pml('run', await write('total.ts', TOTAL));
  expect(asked).toMatchObject({ code: 1, stdout: '' });
  expect(asked.stderr).toContain('"sql": "SELECT name, active, spent FROM users"');
  const runId = /pml runs approve (\S+?)"/.exec(asked.stderr)?.[1] ?? '';
  expect(await pml('runs', 'approve', runId, '--yes')).toMatchObject({ code: 0 });
  expect(await pml('runs', 'resume', runId)).toMatchObject({ code: 0, stdout: '200\n' });
  expect(await pml('runs', 'resume', runId)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('its status is success'),
  });
});

test('[CAPCMD-1] [CAPCMD-3] [CAPCMD-6] [CAP-17] [SKILL-1] a program that ran twice is a capability: run, served, exported elsewhere', async () => {
  const { pml, write, serve, dir } = await home();
  const { ready } = await serve();
  const above = (least: number) =>
    `return (await mcp.db.query({ sql: 'SELECT name, spent FROM users' })).filter((user) => user.spent > ${least}).length;`;
  const intent = ['--intent', 'count the big spenders'];
  for (const least of [40, 100]) {
    const ran = await pml('run', await write('count.ts', above(least)), ...intent);
    expect(ran).toMatchObject({ code: 0, stdout: least === 40 ? '2\n' : '1\n' });
  }
  await expect.poll(async () => (await pml('capability')).stdout, { timeout: 60_000 }).toMatch(/ active /);
  const { capabilities } = JSON.parse((await pml('capability', 'ls', '--json')).stdout);
  const [{ slug }] = capabilities;
  const shown = JSON.parse((await pml('capability', 'show', slug, '--json')).stdout);
  expect(shown.parameters).toMatchObject({ required: ['spent'] });
  const args = '{"spent": 20}';
  expect((await pml('capability', 'run', slug, '--args', args)).stdout).toBe('3\n');

  const token = (await readFile(join(dir, 'token'), 'utf8')).trim();
  for (const era of ERAS) {
    const toGateway: typeof fetch = (input, init) =>
      fetch(String(input).replace('http://gateway.test', String(ready.url)), init);
    const client = await connectClient(toGateway, { era, headers: { authorization: `Bearer ${token}` } });
    const skills = new SkillsClient(client);
    const { skills: listed } = await skills.list();
    expect(listed).toHaveLength(1);
    const files = await Promise.all(
      ['SKILL.md', 'code.ts', 'schema.json', 'capability.json'].map((name) => skills.read(listed[0]!, name)),
    );
    expect(files.every(({ verified }) => verified)).toBe(true);
    const called = await callTool(client, 'pml_execute', { capability: slug, arguments: args });
    expect(called.structuredContent).toMatchObject({ status: 'success', result: 3 });
  }

  const folder = join(dir, 'exported');
  expect((await pml('capability', 'export', slug, folder)).stdout).toContain('SKILL.md');
  // What a program gave may never have been seen: its result is then of no known type. Older versions wrote no digests.
  const described = join(folder, 'capability.json');
  const { digests, ...known } = JSON.parse(await readFile(described, 'utf8'));
  expect(known.output).toMatchObject({ type: 'integer' });
  await writeFile(described, JSON.stringify({ ...known, output: null }));
  const other = await home();
  expect((await other.pml('capability', 'import', folder)).stdout).toContain(`Imported ${slug}`);
  expect((await other.pml('capability', 'run', slug, '--args', args)).stdout).toBe('3\n');
});
