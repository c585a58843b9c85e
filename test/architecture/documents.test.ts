import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ROOMS, roomOf } from '../../scripts/check/house.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

test('[HOUSE-12] ARCHITECTURE.md shows the rooms and arrows that the check enforces', () => {
  const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `([^`]+)` \|[^|]*\|([^|]*)\|$/gm)];
  const shown = Object.fromEntries(rows.map(([, room, imports]) => [room, quoted(imports!)]));
  expect(shown).toEqual(
    Object.fromEntries(Object.entries(ROOMS).map(([name, { imports }]) => [name, imports])),
  );
});

test('[HOUSE-12] ARCHITECTURE.md says which rooms are still empty', () => {
  const lived = new Set(globSync('**/*.{ts,tsx}', { cwd: join(ROOT, 'src') }).map(roomOf));
  const said = /^Still empty: (.*?)\.$/ms.exec(read('ARCHITECTURE.md'))?.[1] ?? '';
  expect(quoted(said)).toEqual(Object.keys(ROOMS).filter((room) => !lived.has(room)));
});

/** Without code, which may look like a link. */
const prose = (path: string) => read(path).replaceAll(/(`+)[\s\S]*?\1/g, '');

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: ROOT });

test('[HOUSE-13] links between documents lead somewhere', () => {
  const dead = DOCUMENTS.flatMap((path) =>
    [...prose(path).matchAll(/\]\((?!\w+:)([^)#\s]+)[^)]*\)/g)]
      .filter(([, target]) => !existsSync(join(ROOT, dirname(path), target!)))
      .map(([, target]) => `${path} -> ${target}`),
  );
  expect(dead).toEqual([]);
});

const SPEC = globSync('docs/spec/*.md', { cwd: ROOT }).map((path) => ({
  file: path.slice('docs/spec/'.length),
  rules: [...read(path).matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map(([, id]) => id!),
}));

/** Names of users' files in examples. */
const EXAMPLES = /^(tidy|report|people|code)\.ts$/;

test('[HOUSE-13] source files that documents name exist', () => {
  const sources = globSync('{src,test,scripts,bench,assembly,config,deploy}/**', { cwd: ROOT });
  const known = new Set([...sources, ...sources.map((path) => basename(path))]);
  const current = DOCUMENTS.filter((path) => !path.startsWith('docs/decisions/'));
  const missing = current.flatMap((path) =>
    quoted(read(path))
      .filter((name) =>
        /^(src|test|scripts|bench|assembly|config|deploy)\/[\w./-]*$|^\w[\w-]*\.tsx?$/.test(name),
      )
      .filter((name) => !/[A-Z]{4}|^x[.-]/.test(name) && !EXAMPLES.test(name))
      .filter((name) => !known.has(name.replace(/\/$/, '')) && !existsSync(join(ROOT, dirname(path), name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('[HOUSE-13] the index of the spec lists every file with its prefixes', () => {
  const rows = [...read('docs/spec/README.md').matchAll(/^\| \[([^\]]+)\]\(\1\) \|([^|]*)\|$/gm)];
  const prefixes = (text: string) => quoted(text).filter((name) => /^[A-Z]+$/.test(name));
  const shown = new Map(rows.map(([, file, row]) => [file!, prefixes(row!)]));
  const held = SPEC.filter(({ file }) => file !== 'README.md').map(
    ({ file, rules }) => [file, [...new Set(rules.map((id) => id.split('-')[0]!))]] as const,
  );
  expect(shown).toEqual(new Map(held));
});

test('[HOUSE-13] rules named in documents exist', () => {
  const rules = new Set(SPEC.flatMap(({ rules }) => rules));
  const areas = new Set([...rules].map((id) => id.split('-')[0]!));
  const named = DOCUMENTS.flatMap((path) =>
    [...prose(path).matchAll(/\b([A-Z]+)-\d+\b/g)]
      .filter(([id, area]) => areas.has(area!) && !rules.has(id))
      .map(([id]) => `${path}: ${id}`),
  );
  expect(rules.size).toBeGreaterThan(0);
  expect(named).toEqual([]);
});

test('[HOUSE-14] .ci/run runs what the README asks a newcomer to run', () => {
  const [, told] = /^(npm ci && npm test)\b/m.exec(read('README.md')) ?? [];
  const commands = read('.ci/run')
    .split('\n')
    .filter((line) => /^npm\b/.test(line));
  expect(commands.join(' && ')).toBe(told);
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(121);
});
