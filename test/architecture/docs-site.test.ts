import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildSite } from '../../scripts/docs/build-site.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = join(ROOT, 'scripts/docs.ts');

/** A copy of everything that the documentation is made of. */
async function copyOfDocs() {
  const { path: copy, remove } = await makeTemporaryDir();
  const styles = ['styles/tokens.css', 'public/theme.js', 'public/icon.svg'];
  const app = styles.map((file) => `src/surfaces/dashboard/app/${file}`);
  for (const path of ['docs', 'examples', ...globSync('*.md', { cwd: ROOT }), ...app]) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  return { copy, remove };
}

let site: string;
let pages: string[];
let removeSite: () => Promise<void>;

beforeAll(async () => {
  const { copy, remove } = await copyOfDocs();
  removeSite = remove;
  buildSite(copy);
  site = join(copy, 'dist/docs');
  pages = globSync('**/*.html', { cwd: site });
});

afterAll(() => removeSite());

/** Where a browser goes that is at this page. */
function target(page: string, href: string): { readonly file: string; readonly hash: string } {
  const { pathname, hash } = new URL(href, `http://site/${page.replace(/index\.html$|\.html$/, '')}`);
  const path = pathname.slice(1);
  const isFile = /\.[a-z]+$/.test(path);
  return {
    file: path === '' || path.endsWith('/') ? `${path}index.html` : isFile ? path : `${path}.html`,
    hash,
  };
}

test('[DOCS-1] every page has a Markdown twin, and all links lead to a page, a file or a heading', () => {
  expect(pages.length).toBeGreaterThan(50);
  const ids = new Map(
    pages.map((page) => [page, new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))]),
  );
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/ (?:href|src)="(?!https?:)([^"]+)"/g)].flatMap(([, href]) => {
      const { file, hash } = target(page, href!.replaceAll('&amp;', '&'));
      const isThere =
        existsSync(join(site, file)) &&
        (hash === '' || !file.endsWith('.html') || ids.get(file)?.has(hash.slice(1)));
      return isThere ? [] : [`${page} -> ${href}`];
    }),
  );
  expect(dead).toEqual([]);
  const alone = pages.filter((page) => !existsSync(join(site, page.replace(/html$/, 'md'))));
  expect(alone).toEqual([]);
});

test('[DOCS-1] links of a Markdown twin lead to other twins', () => {
  const twins = globSync('**/*.md', { cwd: site });
  const dead = twins.flatMap((twin) => {
    const prose = read(twin).replaceAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm, '');
    return [...prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
      .filter(([, href]) => !existsSync(join(site, posix.join(posix.dirname(twin), href!))))
      .map(([, href]) => `${twin} -> ${href}`);
  });
  expect(dead).toEqual([]);
});

test('[DOCS-1] nothing in a page is inline, as the content policy demands', () => {
  const inline = pages.filter((page) => {
    const text = read(page).replaceAll(/<pre[\s\S]*?<\/pre>/g, '');
    return /<style|<script(?! src=)| style="| on[a-z]+="/.test(text);
  });
  expect(inline).toEqual([]);
});

test('[DOCS-2] an outdated generated page, and a page that is listed nowhere, fail the check', async () => {
  const { copy, remove } = await copyOfDocs();
  onTestFinished(remove);
  const check = () =>
    promisify(execFile)(process.execPath, [SCRIPT, '--check', '--root', copy]).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );
  expect(await check()).toBe('');
  writeFileSync(join(copy, 'docs/reference/command-line.md'), '# Every command\n');
  writeFileSync(
    join(copy, 'docs/tokens.md'),
    readFileSync(join(copy, 'docs/tokens.md'), 'utf8').replace('37,948', '1'),
  );
  writeFileSync(join(copy, 'docs/new.md'), '# A new page\n');
  expect((await check()).trim().split('\n')).toEqual([
    'docs/reference/command-line.md is not current: run "npm run docs"',
    'docs/images/plot-tokens.svg is not current: run "npm run docs"',
    'docs/new.md is missing in scripts/docs/navigation.ts',
  ]);
});

function read(page: string): string {
  return readFileSync(join(site, page), 'utf8');
}
