import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

/** Lists a folder, reads each of its files, writes what they say into another file. */
const summary = (notes: string, to: string) => ({
  tasks: [
    { id: 'list', tool: 'filesystem:list_directory', arguments: { path: notes } },
    {
      id: 'names',
      code: `return deps.list.content.split('\\n').map((line) => \`\${args.in}/\${line.replace('[FILE] ', '')}\`)`,
      arguments: { in: notes },
      depends_on: ['list'],
    },
    {
      id: 'read',
      tool: 'filesystem:read_text_file',
      for_each: '${names}',
      arguments: { path: '${item}' },
    },
    {
      id: 'text',
      code: `return deps.read.map(({ content }) => content).join(' and ')`,
      depends_on: ['read'],
    },
    { id: 'write', tool: 'filesystem:write_file', arguments: { path: to, content: '${text}' } },
  ],
});

test('[FLOW-25] [FLOW-27] with a real server: run, killed while it waits, approved after a restart, continued', async () => {
  const dir = await temporaryDir();
  const notes = join(dir, 'notes');
  await mkdir(notes);
  await writeFile(join(notes, 'a.txt'), 'apples');
  await writeFile(join(notes, 'b.txt'), 'bees');
  const to = join(dir, 'summary.txt');
  await writeFile(join(dir, 'plan.json'), JSON.stringify(summary(notes, to)));
  const config = {
    mcpServers: { filesystem: referenceServers(dir).filesystem },
    pml: { permissions: { ask: ['*:write_*'] } },
  };
  await writeFile(join(dir, 'pml.json'), JSON.stringify(config));
  const where = ['--data', join(dir, 'data'), '--config', join(dir, 'pml.json')];
  const pml = (...args: string[]) => runPml([...args, ...where], { cwd: dir });
  const serve = () => startPml(['serve', '--port', '0', ...where], { cwd: dir });

  const first = await serve();
  const paused = await pml('workflow', 'run', join(dir, 'plan.json'), '--intent', 'sum the notes up');
  expect(paused).toMatchObject({ code: 1, stdout: '' });
  expect(paused.stderr).toMatch(/✓ read filesystem:read_text_file \d+ ms, 2 of 2 items/);
  expect(paused.stderr).toContain('"content": "apples and bees"');
  const runId = /pml runs approve (\S+?)"/.exec(paused.stderr)?.[1] ?? '';
  first.child.kill('SIGKILL');
  await first.exited;
  await expect(readFile(to, 'utf8')).rejects.toThrow('ENOENT');

  await serve();
  expect((await pml('runs', 'show', runId)).stdout).toMatch(
    /✓ text code:task.*\n.*\? write filesystem:write_file/,
  );
  expect(await pml('runs', 'approve', runId, '--task', 'write', '--yes')).toMatchObject({ code: 0 });
  expect(await pml('runs', 'resume', runId)).toMatchObject({ code: 0 });
  expect(await readFile(to, 'utf8')).toBe('apples and bees');
  // It is stored after the answer.
  await expect.poll(async () => (await pml('trace', 'ls', '--json')).stdout).toContain(runId);
}, 180_000);
