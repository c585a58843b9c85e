import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import { acquireDataDir, type Holder, processStart, readHolder } from './data-dir-lock.ts';

async function writeRecord(dir: string, over: Partial<Holder>): Promise<void> {
  const record: Holder = {
    nonce: 'n',
    pid: 1,
    processStart: 'x',
    host: hostname(),
    role: 'serve',
    port: 1,
    since: 'then',
    ...over,
  };
  await writeFile(join(dir, 'holder.json'), JSON.stringify(record));
}

test('[LOCK-1] of many processes that want a data dir at once, one gets it and the others learn which', async () => {
  const dir = await temporaryDir();
  const claims = await Promise.all(Array.from({ length: 12 }, () => acquireDataDir(dir, 'serve')));
  const winners = claims.filter((claim) => 'lock' in claim);
  expect(winners.length).toBe(1);
  const [loser] = claims.filter((claim) => 'heldBy' in claim);
  expect(loser?.heldBy).toMatchObject({ pid: process.pid, role: 'serve' });
  await winners[0]?.lock.announce(4711);
  expect((await readHolder(dir))?.port).toBe(4711);
  await winners[0]?.lock.release();
  expect(await readHolder(dir)).toBeNull();
  expect('lock' in (await acquireDataDir(dir, 'stdio'))).toBe(true);
});

test('[LOCK-2] a dead holder is replaced, even when its pid is in use again', async () => {
  const dead = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => dead.on('exit', resolve));
  for (const record of [{ pid: dead.pid ?? 0 }, { pid: process.pid, processStart: 'before the last boot' }]) {
    const dir = await temporaryDir();
    await writeRecord(dir, record);
    expect(await acquireDataDir(dir, 'serve')).toHaveProperty('lock');
  }
});

test('[LOCK-3] a holder on another machine is never considered dead', async () => {
  const dir = await temporaryDir();
  await writeRecord(dir, { host: 'another-machine', pid: 999_999 });
  expect(await acquireDataDir(dir, 'serve')).toMatchObject({ heldBy: { host: 'another-machine' } });
});

test('[LOCK-4] releasing after another process took over leaves the other in place', async () => {
  const dir = await temporaryDir();
  const claim = await acquireDataDir(dir, 'serve');
  await writeRecord(dir, { pid: process.pid, processStart: processStart(process.pid), role: 'stdio' });
  if ('lock' in claim) await claim.lock.release();
  expect((await readHolder(dir))?.role).toBe('stdio');
});
