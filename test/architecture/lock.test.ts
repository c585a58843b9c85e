import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('[PACK-3] npm ci gives no warnings about the lock', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
    packages: Record<string, { engines?: object; deprecated?: string }>;
  };
  const { '': own, ...others } = packages;
  const warnedOf = Object.entries(others).filter(([, { engines, deprecated }]) => engines ?? deprecated);
  expect(
    warnedOf.map(([path]) => path),
    'mended by "npm run lock"',
  ).toEqual([]);
  expect(own?.engines).toEqual({ node: '>=20.19' });
});
