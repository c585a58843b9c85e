import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { connect } from '../../src/client.ts';
import { runPml, startPml, systemNode } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[CLI-1] the launcher works with the Node of the machine', async () => {
  const { code, stdout } = await runPml(['--version'], { node: systemNode() });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${packageJson.version}\n` });
});

test.runIf(process.platform === 'linux')(
  '[CLI-14] what lasts continues with one malloc arena and a small young generation, or as the environment says',
  async () => {
    const tell = 'console.error(process.pid, process.env.MALLOC_ARENA_MAX, ...process.execArgv)';
    const started = async (env: Record<string, string>, options = '', args = ['serve', '--help']) => {
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(tell)}${options}`;
      const { stderr } = await runPml(args, { env: { ...env, NODE_OPTIONS } });
      return stderr.trim().split('\n');
    };
    const [before, after, ...more] = await started({});
    const [pid] = before!.split(' ');
    const flags = '--max-semi-space-size=8 --heap-growing-percent=60';
    expect([before, after, ...more]).toEqual([`${pid} undefined`, `${pid} 1 ${flags}`]);
    expect(await started({ MALLOC_ARENA_MAX: '4' })).toEqual([expect.stringMatching(/^\d+ 4$/)]);
    const [, own] = await started({}, ' --max-semi-space-size=16');
    expect(own).toMatch(/^\d+ 1$/);
    expect(await started({}, '', ['--version'])).toEqual([expect.stringMatching(/^\d+ undefined$/)]);
  },
);

test('[CLI-2] --help says what each command does, with an example', async () => {
  const top = await runPml(['--help']);
  expect(top.code).toBe(0);
  for (const name of ['serve', 'trace', 'doctor', 'login', 'completion']) expect(top.stdout).toContain(name);
  for (const command of [['serve'], ['trace', 'ls'], ['doctor'], ['login', 'link'], ['completion']]) {
    const { code, stdout } = await runPml([...command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Example:\n {2}\$ /);
    expect(stdout).toContain('--json');
  }
});

test('[CLI-3] wrong usage is exit code 2 with the nearest word, failure is 1', async () => {
  const typo = await runPml(['sreve']);
  expect(typo.code).toBe(2);
  expect(typo.stderr).toMatch(/Did you mean serve/);
  expect((await runPml(['serve', '--port', 'high'])).code).toBe(2);
  const data = await temporaryDir();
  const missing = await runPml(['trace', 'show', 'no-such-trace', '--data', data, '--json']);
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout).error).toMatchObject({ code: 'not_found', hint: expect.any(String) });
});

test('[CLI-4] completion scripts know commands and options, and are valid shell', async () => {
  const { stdout } = await runPml(['completion', 'bash']);
  expect(stdout).toMatch(/'trace'\) words='ls show/);
  expect(stdout).toMatch(/'serve'\) words='[^']*--port/);
  const checked = await runShell(
    'bash',
    `${stdout}\nCOMP_WORDS=(pml tr); COMP_CWORD=1; _pml; echo "\${COMPREPLY[@]}"`,
  );
  expect(checked.trim()).toBe('trust trace train');
  expect((await runPml(['completion', 'fish'])).stdout).toMatch(/complete -c pml/);
  expect((await runPml(['completion', 'tcsh'])).code).toBe(2);
});

test('[CLI-5] doctor says what is wrong and what to do, also as JSON', async () => {
  const data = await temporaryDir();
  const healthy = await runPml(['doctor', '--data', data, '--json'], { cwd: data });
  expect(healthy.code).toBe(0);
  const { checks } = JSON.parse(healthy.stdout) as { checks: { name: string; status: string }[] };
  expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'runtime ok',
    'config warn',
    'lock ok',
    'store ok',
    'embedding ok',
  ]);
  await writeFile(join(data, 'pml.json'), '{ "mcpServers": {}, "pml": { "htp": {} } }');
  const sick = await runPml(['doctor', '--data', data], { cwd: data });
  expect(sick.code).toBe(1);
  expect(sick.stdout).toMatch(/✗ config.*htp/);
  expect(sick.stdout).toMatch(/http/);
});

test('[CLI-6] serve prints where it listens; a second one is refused by pid and port; commands bridge to it', async () => {
  const data = await temporaryDir();
  const first = await startPml(['serve', '--port', '0', '--data', data], { cwd: data });
  const url = String(first.ready.url);
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok', role: 'serve' });

  const second = await runPml(['serve', '--port', '0', '--data', data], { cwd: data });
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`pid ${first.child.pid}`);
  expect(second.stderr).toContain(`port ${new URL(url).port}`);

  const bridged = await runPml(['doctor', '--data', data], { cwd: data });
  expect(bridged.stdout).toContain(`through pid ${first.child.pid}`);
  expect((await runPml(['trace', 'ls', '--data', data], { cwd: data })).stdout).toBe('No traces yet.\n');

  const link = (await runPml(['login', '--data', data], { cwd: data })).stdout.trim();
  // The code stands behind the #, which no server and no log gets to see.
  expect(link).toMatch(/\/login#\S{16,}$/);
  expect((await fetch(link)).status).toBe(200);

  first.child.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect((await runPml(['login', '--data', data], { cwd: data })).code).toBe(1);
});

test('[CLI-7] commands started together on one data dir all succeed', async () => {
  const data = await temporaryDir();
  const all = await Promise.all(
    Array.from({ length: 4 }, () => runPml(['trace', 'ls', '--json', '--data', data], { cwd: data })),
  );
  expect(all.map(({ code, stdout }) => `${code} ${stdout}`)).toEqual(Array(4).fill('0 {"traces":[]}\n'));
});

test('[CLI-8] a gateway whose launcher is killed does not stay behind', async () => {
  const node = systemNode();
  const data = await temporaryDir();
  const { child, ready } = await startPml(['serve', '--port', '0', '--data', data], { cwd: data, node });
  const url = String(ready.url);
  expect((await fetch(`${url}/healthz`)).ok).toBe(true);
  child.kill('SIGKILL');
  await expect
    .poll(() =>
      fetch(`${url}/healthz`).then(
        () => 'there',
        () => 'gone',
      ),
    )
    .toBe('gone');
});

test('[CLI-9] the demo starts without a configuration and says what it attached', async () => {
  const data = await temporaryDir();
  const args = ['serve', '--demo', 'without-config', '--port', '0', '--data', data];
  const { ready } = await startPml(args, { cwd: data });
  expect(ready).toMatchObject({
    data: join(data, 'demo'),
    servers: ['filesystem', 'memory', 'everything', 'thinking'],
  });
  const own = join(data, 'pml.json');
  await writeFile(own, '{ "mcpServers": {} }');
  const configured = await startPml(args, { cwd: data });
  expect(configured.ready).toMatchObject({ config: own, servers: [] });
});

test('[CODE-19] [HOUSE-18] the demo runs its examples, which build on each other and have the types they are checked against; your own program runs beside them', async () => {
  const data = await temporaryDir();
  const { ready } = await startPml(['serve', '--demo', '--port', '0', '--data', data], { cwd: data });
  const here = ['--data', join(data, 'demo'), '--json'];
  const token = (await readFile(join(data, 'demo', 'token'), 'utf8')).trim();
  const examples = async () => {
    const reply = await fetch(`${ready.url}/api/traces`, { headers: { authorization: `Bearer ${token}` } });
    const { traces } = (await reply.json()) as { traces: { session_id: string; success: boolean }[] };
    return traces.filter(({ session_id }) => session_id === 'demo').map(({ success }) => success);
  };
  await expect
    .poll(examples, { timeout: 120_000, interval: 100 })
    .toEqual(Array.from({ length: 19 }, () => true));
  // Descriptions name tools in the order in which they happened to end.
  const withoutComments = (types: string) => types.replaceAll(/\/\*\*.*?\*\//gs, '');
  const checked = withoutComments(
    await readFile(new URL('../../examples/pml.d.ts', import.meta.url), 'utf8'),
  );
  const pml = await connect({ dataDir: join(data, 'demo') });
  await expect
    .poll(async () => withoutComments((await pml.getTypes()).types), { interval: 200 })
    .toBe(checked);
  const { stdout: told } = await runPml(['graph', 'export', ...here.slice(0, 2)]);
  expect(JSON.parse(told).edges).toContainEqual(
    expect.objectContaining({ edge_type: 'contains', target: 'filesystem:list_directory' }),
  );
  const own = join(data, 'own.ts');
  await writeFile(own, "return await mcp.everything.echo({ message: 'hello' });");
  const { code, stdout } = await runPml(['run', own, ...here]);
  expect(code).toBe(0);
  expect(stdout).toContain('hello');
}, 180_000);

async function runShell(shell: string, script: string): Promise<string> {
  return await new Promise((resolve, reject) =>
    execFile(shell, ['-c', script], (error, stdout) => (error ? reject(error) : resolve(stdout))),
  );
}
