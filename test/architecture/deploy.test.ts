import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadSettings } from '../../src/adapters/config/load-settings.ts';
import { runPml } from '../support/run-pml.ts';

const read = (name: string) => readFile(`deploy/${name}`, 'utf8');

/** `--port 8080` and the like, without their values. */
const optionsIn = (words: readonly string[]) => words.filter((word) => word.startsWith('--'));

test('[OPS-7] the files that the Dockerfile copies exist, and it starts a command of pml', async () => {
  const lines = (await read('Dockerfile')).replaceAll('\\\n', ' ').split('\n');
  const copies = lines.filter((line) => line.startsWith('COPY') && !line.includes('--from'));
  const sources = copies.flatMap((line) => line.split(/\s+/).slice(1, -1));
  expect(sources.length).toBeGreaterThan(2);
  expect(sources.filter((source) => !existsSync(source))).toEqual([]);
  const started = JSON.parse(/^CMD (\[.*\])$/m.exec(lines.join('\n'))?.[1] ?? '[]') as string[];
  const { stdout: help } = await runPml([started[0]!, '--help']);
  for (const option of optionsIn(started)) expect(help).toContain(option);
  const { scripts, engines } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(scripts.prepack).toBe('npm run build');
  expect(engines.node).toMatch(/^>=\d+/);
  // What is built in the image must not come from this machine.
  expect((await readFile('.dockerignore', 'utf8')).split('\n')).toEqual(
    expect.arrayContaining(['node_modules', 'dist']),
  );
});

test('[OPS-7] the compose file has a PostgreSQL with pgvector, and its configuration is valid', async () => {
  const { services, volumes } = parse(await read('compose.yaml'));
  expect(services.db.image).toMatch(/^pgvector\/pgvector:pg\d+$/);
  const mounts = [...services.db.volumes, ...services.pml.volumes].map(
    (mount: string) => mount.split(':')[0] ?? '',
  );
  for (const source of mounts) {
    expect(source.startsWith('.') ? existsSync(`deploy/${source}`) : source in volumes).toBe(true);
  }
  expect(existsSync(`deploy/${services.pml.build.context}/${services.pml.build.dockerfile}`)).toBe(true);
  const settings = await loadSettings({
    file: 'deploy/pml.json',
    env: { PML_DB_PASSWORD: 'a-password' },
    cwd: process.cwd(),
  });
  const url = new URL(settings.store.url ?? '');
  expect([url.username, url.hostname, url.pathname]).toEqual([
    services.db.environment.POSTGRES_USER,
    'db',
    '/pml',
  ]);
});

test('[OPS-7] the systemd unit starts pml with existing options, and gives it time to end', async () => {
  const unit = await read('pml.service');
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  expect(words.slice(1, 3)).toEqual(['pml', 'serve']);
  const { stdout: help } = await runPml(['serve', '--help']);
  for (const option of optionsIn(words)) expect(help).toContain(option);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(30);
});
