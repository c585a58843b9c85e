import { expect, test } from 'vitest';
import { runCommand } from '../../../../test/support/command-line.ts';
import { initMachine } from '../../../../test/support/init-machine.ts';

async function cursor() {
  const home = await initMachine();
  await home.write('.cursor/mcp.json', '{"mcpServers":{"a":{"command":"a","env":{"KEY":"hush-hush-1"}}}}');
  const system = {
    planInit: ({ from }: { from?: string }) => home.plan(from),
    planUndo: ({ from }: { from?: string }) => home.undo(from),
  };
  return { home, system };
}

test('[INIT-17] nothing is written before confirmation: a person is asked, otherwise --yes is required', async () => {
  const { home, system } = await cursor();
  const before = await home.snapshot();
  const no = await runCommand(['init'], system, { answer: false });
  expect(no).toMatchObject({ code: 0, asked: ['Make these changes?'] });
  expect(no.out).toMatch(/^\+ {2}"mcpServers"/m);
  expect(no.out).not.toContain('hush-hush-1');
  expect(no.out).toMatch(/Nothing was changed\.\n$/);
  const nobody = await runCommand(['init'], system, { answer: null });
  expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect((await runCommand(['init', '--dry-run', '--yes'], system)).out).toMatch(/Nothing was changed/);
  expect(await home.snapshot()).toEqual(before);
});

test('[INIT-17] after confirmation it is done and reported, and can be undone', async () => {
  const { home, system } = await cursor();
  const before = await home.snapshot();
  const done = await runCommand(['init', '--yes'], system);
  expect(done.out).toContain('Servers to move behind PML:\n  a (from Cursor)');
  expect(done.out).toMatch(/Wrote .*mcp\.json; the old version is .*pml-backup/);
  expect(done.out).toContain('pml init --undo');
  expect((await runCommand(['init'], system)).out).toBe('Nothing to change: everything is already set up.\n');

  const undo = await runCommand(['init', '--undo'], system, { answer: true });
  expect(undo.out).toMatch(/Restored .*mcp\.json, byte for byte as it was/);
  expect(await home.snapshot()).toEqual(before);
});

test('[INIT-17] --json prints the plan and what was done', async () => {
  const { system } = await cursor();
  const dry = JSON.parse((await runCommand(['init', '--json', '--dry-run'], system)).out);
  expect(dry).toMatchObject({ applied: false, imported: [{ name: 'a', from: 'Cursor' }], done: [] });
  expect(dry.changes.map(({ label }: { label: string }) => label)).toEqual(['PML', 'Cursor']);
  const done = JSON.parse((await runCommand(['init', '--json', '--yes'], system)).out);
  expect(done).toMatchObject({ applied: true, done: [expect.stringContaining('Wrote'), expect.any(String)] });
});
