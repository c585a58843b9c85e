import { writeFileSync } from 'node:fs';
import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import type { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Settings } from '../../engine/ports.ts';
import { loadSettings, trustConfig } from './load-settings.ts';
import { watchSettings } from './watch-settings.ts';

/** The text of a file; written in one go, since half of one that is read meanwhile would be another error. */
const port = (number: number) => JSON.stringify({ pml: { http: { port: number } } });

async function watched(file: string) {
  const source = { file, env: {}, cwd: '/' };
  const ports: number[] = [];
  const errors: string[] = [];
  const watcher = await watchSettings(
    source,
    await loadSettings(source),
    (settings: Settings) => ports.push(settings.http.port),
    (error: PmlError) => errors.push(error.message),
  );
  onTestFinished(() => watcher.close());
  return { ports, errors, watcher };
}
const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 });

test('[CFG-11] every change is noticed, whether the file is written or replaced', async () => {
  const file = join(await temporaryDir(), 'pml.json');
  writeFileSync(file, port(1));
  const { ports, errors } = await watched(file);
  writeFileSync(file, port(2));
  await until(() => expect(ports).toEqual([2]));
  for (const next of [3, 4]) {
    writeFileSync(`${file}.tmp`, port(next));
    await rename(`${file}.tmp`, file);
    await until(() => expect(ports.at(-1)).toBe(next));
  }
  await rm(file);
  await until(() => expect(errors).toEqual([expect.stringContaining('not found')]));
  writeFileSync(file, port(5));
  await until(() => expect(ports).toEqual([2, 3, 4, 5]));
});

test('[CFG-19] an invalid file is reported once, and the old settings stay', async () => {
  const file = join(await temporaryDir(), 'pml.json');
  writeFileSync(file, port(1));
  const { ports, errors } = await watched(file);
  writeFileSync(file, '{ "pml": { "htp": {} } }');
  await until(() => expect(errors).toEqual([expect.stringContaining('did you mean "http"?')]));
  writeFileSync(file, `// mended\n${port(1)}`);
  writeFileSync(file, '');
  await until(() =>
    expect(errors).toEqual([expect.anything(), expect.stringContaining('the file is empty')]),
  );
  expect(ports).toEqual([]);
});

test('[CFG-12] a change of a file that was found, not named, takes effect once it is trusted', async () => {
  const cwd = await temporaryDir();
  const file = join(cwd, 'pml.json');
  const source = { env: {}, cwd, data: join(cwd, 'data') };
  writeFileSync(file, port(1));
  await trustConfig(source);
  const ports: number[] = [];
  const errors: string[] = [];
  const watcher = await watchSettings(
    { ...source, file, isFound: true },
    await loadSettings(source),
    (settings) => ports.push(settings.http.port),
    (error) => errors.push(error.code),
  );
  onTestFinished(() => watcher.close());
  writeFileSync(file, port(2));
  await until(() => expect(errors).toEqual(['config_untrusted']));
  expect(ports).toEqual([]);
  await trustConfig(source);
  await until(() => expect(ports).toEqual([2]));
});

test('[CFG-11] only changes of meaning count', async () => {
  const dir = await temporaryDir();
  const file = join(dir, 'pml.json');
  writeFileSync(file, port(1));
  const { ports, errors } = await watched(file);
  writeFileSync(join(dir, 'other.json'), 'x');
  writeFileSync(file, `// a comment\n${port(1)}`);
  writeFileSync(`${file}.tmp`, port(2));
  await rename(`${file}.tmp`, file);
  await until(() => expect(ports).toEqual([2]));
  expect(errors).toEqual([]);
});

test('[CFG-11] a linked file is watched where it really is', async () => {
  const [dir, elsewhere] = [await temporaryDir(), await temporaryDir()];
  writeFileSync(join(elsewhere, 'real.json'), port(1));
  await symlink(join(elsewhere, 'real.json'), join(dir, 'pml.json'));
  const { ports } = await watched(join(dir, 'pml.json'));
  writeFileSync(join(elsewhere, 'real.json'), port(2));
  await until(() => expect(ports).toEqual([2]));
});

test('[CFG-11] a closed watcher reports nothing, and a change made before the watch began is not missed', async () => {
  const file = join(await temporaryDir(), 'pml.json');
  writeFileSync(file, port(1));
  const before = await loadSettings({ file, env: {}, cwd: '/' });
  writeFileSync(file, port(2));
  const seen: number[] = [];
  const watcher = await watchSettings(
    { file, env: {}, cwd: '/' },
    before,
    (settings) => seen.push(settings.http.port),
    () => seen.push(-1),
  );
  await until(() => expect(seen).toEqual([2]));
  watcher.close();
  const { ports } = await watched(file);
  writeFileSync(file, port(3));
  await until(() => expect(ports).toEqual([3]));
  expect(seen).toEqual([2]);
});
