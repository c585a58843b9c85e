import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { settingsFor } from '../../../../test/support/settings-for.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { testGateway, tool } from '../../../../test/support/test-gateway.ts';
import type { Settings } from '../../../engine/ports.ts';

async function office(settings: Partial<Settings> = {}) {
  const tools = [
    tool('list', () => ({ files: ['a', 'b'] })),
    tool('read', ({ name }) => {
      if (name === 'bad') throw new Error('no such file');
      return `of ${name}`;
    }),
  ];
  const { gateway, store } = await testGateway({ servers: [{ name: 'disk', tools }], settings });
  const file = join(await temporaryDir(), 'plan.json');
  const run = async (workflow: unknown, more: string[] = [], isTty = false) => {
    await writeFile(file, typeof workflow === 'string' ? workflow : JSON.stringify(workflow));
    const system = { openGateway: async () => openedGateway(gateway) };
    return await runCommand(['workflow', 'run', file, ...more], system, { isTty });
  };
  const command = (...argv: string[]) =>
    runCommand(argv, { openGateway: async () => openedGateway(gateway) });
  return { gateway, store, run, command };
}

const LIST = { id: 'list', tool: 'disk:list' };
const READ = { id: 'read', tool: 'disk:read', for_each: '${list.files}', arguments: { name: '${item}' } };
const COUNT = { id: 'count', code: 'return args.texts.length', arguments: { texts: '${read}' } };

test('[FLOW-27] pml workflow run prints each task as it ends, and the results of the last ones', async () => {
  const { run } = await office();
  const done = await run({ tasks: [LIST, READ, COUNT] }, ['--intent', 'count them']);
  expect(done).toMatchObject({ code: 0, out: '2\n' });
  expect(done.err.replaceAll(/\d+ ms/g, 'N ms').split('\n')).toEqual([
    '✓ list disk:list N ms',
    '✓ read disk:read N ms, 2 of 2 items',
    '✓ count code:task N ms',
    '',
  ]);
  const several = await run({ tasks: [LIST, { ...READ, id: 'other', for_each: ['x'] }] });
  expect(JSON.parse(several.out)).toEqual({ list: { files: ['a', 'b'] }, other: ['of x'] });
});

test('[FLOW-27] a terminal shows the tasks as a tree that is redrawn', async () => {
  const { run } = await office();
  const { err } = await run({ tasks: [LIST, READ, { ...COUNT, depends_on: ['list'] }] }, [], true);
  const last = err.split('\u001b[J').at(-1) ?? '';
  expect(last.replaceAll(/\d+ ms/g, 'N ms').split('\n')).toEqual([
    '  ✓ list disk:list N ms',
    '  └─ ✓ read disk:read N ms, 2 of 2 items',
    '     └─ ✓ count code:task N ms',
    '',
  ]);
});

test('[FLOW-34] a workflow that fails, is malformed or lacks an input fails the command with the reason', async () => {
  const { run } = await office();
  const failed = await run({ tasks: [{ id: 'a', tool: 'disk:read', arguments: { name: 'bad' } }] });
  expect(failed).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/✗ a .*\npml: a: .*no such file/),
  });
  expect(await run('{')).toMatchObject({ code: 1, err: expect.stringMatching(/is not valid JSON/) });
  expect(await run({ tasks: [{ id: 'a' }] })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/tasks\[0\] must have exactly one of tool/),
  });
  const inputs = [{ name: 'who' }];
  const asks = { tasks: [{ id: 'a', tool: 'disk:read', arguments: { name: '${who}' } }], inputs };
  expect((await run(asks)).err).toMatch(/the input "who" has no value/);
  expect((await run(asks, ['--args', '{"who": "me"}'])).out).toBe('of me\n');
  const json = JSON.parse((await run(asks, ['--args', '{"who": "me"}', '--json'])).out);
  expect(json).toMatchObject({ status: 'success', layers: [['a']], results: { a: { result: 'of me' } } });
});

test('[RUNS-7] waiting tasks are approved one by one, or edited and then approved', async () => {
  const { permissions } = settingsFor([]);
  const { store, run, command } = await office({ permissions: { ...permissions, ask: ['disk:read'] } });
  const asks = (id: string) => ({ id, tool: 'disk:read', arguments: { name: id } });
  const paused = await run({ tasks: [asks('one'), asks('two'), { ...LIST, depends_on: ['one'] }] });
  expect(paused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/is waiting for your approval/),
  });
  const id = (await store.runs.list(1))[0]!.id;
  expect((await command('runs', 'show', id)).out).toMatch(
    /\? one disk:read waiting\n.*· list disk:list\n.*\? two disk:read/,
  );
  expect((await command('runs', 'approve', id, '--task', 'nothing', '--yes')).code).toBe(1);
  expect((await command('runs', 'approve', id, '--task', 'one', '--yes')).code).toBe(0);
  const edited = await command('runs', 'edit', id, '--args', '{"name": "three"}', '--task', 'two');
  expect(edited).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"name": "three".*pml runs approve/s),
  });
  expect((await command('runs', 'edit', id, '--args', '3')).code).toBe(2);
  const states = (await store.approvals.list({ runId: id })).map(({ state }) => state);
  expect(states).toEqual(['approved', 'rejected', 'pending']);
  expect((await command('runs', 'approve', id, '--yes')).err).toContain('"name": "three"');
  const resumed = await command('runs', 'resume', id);
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.out)).toMatchObject({ one: 'of one', two: 'of three' });
});

test('[RUNS-7] resuming a run that stops after each layer continues with the next layer', async () => {
  const { store, run, command } = await office();
  const first = await run({ tasks: [LIST, READ, COUNT], decide: 'layers' });
  expect(first).toMatchObject({ code: 1, err: expect.stringMatching(/A layer is complete; next: read/) });
  const id = (await store.runs.list(1))[0]!.id;
  expect((await command('runs', 'resume', id)).err).toMatch(/next: count/);
  expect(await command('runs', 'abort', id)).toMatchObject({ code: 0 });
  expect((await store.runs.get(id))?.status).toBe('aborted');
});
