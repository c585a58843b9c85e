import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { ensureBuiltPage } from '../support/built-page.ts';

const FOLDER = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));
const KB = 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const zipped = (file: string) => readFileSync(join(FOLDER, `${file}.gz`)).length;

/** What a browser fetches for a part of the page: its chunk, and what that imports. */
function filesOf(start: string): Set<string> {
  const chunks = JSON.parse(readFileSync(join(FOLDER, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
  const files = new Set<string>();
  const visit = (name: string) => {
    const { file, imports = [], css = [] } = chunks[name]!;
    if (files.has(file)) return;
    for (const path of [file, ...css]) files.add(path);
    for (const other of imports) visit(other);
  };
  visit(start);
  return files;
}

beforeAll(ensureBuiltPage);

test('[DASH-7] the dashboard is at most 300 KB with gzip, the first view at most 120 KB', () => {
  const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.gz'),
  );
  const total = all.reduce((sum, path) => sum + readFileSync(join(FOLDER, path)).length, 0);
  expect(total / KB).toBeLessThanOrEqual(300);
  const first = ['index.html', 'theme.js', 'icon.svg', ...filesOf('index.html')];
  const firstBytes = first.reduce((sum, path) => sum + zipped(path), 0);
  expect(firstBytes / KB).toBeLessThanOrEqual(120);
});

test('[DASH-7] only pages that draw graphs load the graph library', () => {
  const holdsLibrary = (file: string) =>
    readFileSync(join(FOLDER, file), 'utf8').includes('cytoscape_container');
  const page = (name: string) => [...filesOf(`pages/${name}/${name}-page.tsx`)];
  for (const name of ['runs', 'capabilities', 'search', 'learning']) {
    expect(
      page(name).filter((file) => file.endsWith('.js') && holdsLibrary(file)),
      name,
    ).toEqual([]);
  }
  const first = [...filesOf('index.html')].filter((file) => file.endsWith('.js'));
  expect(first.filter(holdsLibrary)).toEqual([]);
});
