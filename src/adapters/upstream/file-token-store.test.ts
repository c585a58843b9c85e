import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { fileTokenStore } from './file-token-store.ts';

const dir = mkdtempSync(join(tmpdir(), 'pml-tokens-'));
const file = join(dir, 'logins.json');
afterEach(() => rmSync(file, { force: true }));
afterAll(() => rmSync(dir, { recursive: true }));

test('[UP-38] logins are stored by server, in a file that only its owner can read', async () => {
  const store = fileTokenStore(dir);
  expect(await store.get('a')).toBeNull();
  await Promise.all(['a', 'b', 'c'].map((server) => store.set(server, { token: server })));
  await store.delete('b');
  const again = fileTokenStore(dir);
  expect(await Promise.all(['a', 'b', 'c'].map((server) => again.get(server)))).toEqual([
    { token: 'a' },
    null,
    { token: 'c' },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('[UP-38] a damaged file is named, not overwritten', async () => {
  writeFileSync(file, '{"a": ');
  const store = fileTokenStore(dir);
  await expect(store.set('a', {})).rejects.toMatchObject({
    code: 'data_dir_damaged',
    hint: expect.any(String),
  });
  await expect(store.get('a')).rejects.toThrow(file);
});
