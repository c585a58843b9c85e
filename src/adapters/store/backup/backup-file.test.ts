import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { writeBackup } from './backup-file.ts';

async function* nothing() {}

test('[OPS-4] a backup is readable by its owner only, and is not written through an existing link', async () => {
  const dir = await temporaryDir();
  const [file, victim] = [join(dir, 'a.backup'), join(dir, 'victim')];
  await writeFile(victim, 'mine', { mode: 0o666 });
  await symlink(victim, `${file}.unfinished`);
  await writeBackup(file, new Date(0), nothing());
  expect(await readFile(victim, 'utf8')).toBe('mine');
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const left = join(dir, 'b.backup');
  await writeFile(`${left}.unfinished`, 'half', { mode: 0o666 });
  await writeBackup(left, new Date(0), nothing());
  expect((await stat(left)).mode & 0o777).toBe(0o600);
});
