import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createTar } from 'nanotar';
import { fileOf, type PageSource, pathOf, SECTIONS } from './navigation.ts';
import { escapeHtml, type RenderedPage, renderPage } from './render-page.ts';

const THEME = fileURLToPath(new URL('theme', import.meta.url));
const DASHBOARD = 'src/surfaces/dashboard/app';
/** What a built site depends on, besides this script. */
const SOURCES = ['*.md', 'docs/**/*', 'examples/*', 'scripts/docs/**/*', `${DASHBOARD}/styles/tokens.css`];
/** What a gateway serves: one file, because the published package has few. */
const ARCHIVE = 'docs.tar.gz';

const SUMMARY =
  'PML (Procedural Memory Layer) is an MCP gateway: it stands between agents and their MCP servers, offers five tools instead of hundreds, runs code and plans in a sandbox, asks before dangerous calls, and learns from every run how work gets done.';

/** A page with its place in the site. */
interface Page extends PageSource, RenderedPage {
  readonly markdown: string;
}

/** Every page: those of the navigation, then rules and decisions. `written` replaces what the files say. */
export function readPages(root: string, written: Readonly<Record<string, string>> = {}): Page[] {
  const listed = SECTIONS.flatMap(({ pages }) => pages);
  const found = globSync(['docs/spec/*.md', 'docs/decisions/*.md'], { cwd: root }).toSorted();
  const files = [...listed, ...found.filter((file) => !listed.includes(file))].filter(
    (file) => file in written || existsSync(join(root, file)),
  );
  const known = new Set(files);
  return files.map((file) => {
    const markdown = written[file] ?? readFileSync(join(root, file), 'utf8');
    const path = pathOf(file);
    return { file, path, markdown, ...renderPage(markdown, (target) => relinked(target, file, known, '')) };
  });
}

/**
 * The address of a link of `file` in the site, relative to its page; null if the site does not have the target. `ending`
 * is what pages end in: nothing for readers, `.md` for the Markdown twins.
 */
function relinked(target: string, file: string, known: ReadonlySet<string>, ending: string): string | null {
  if (/^[a-z]+:/i.test(target) || target.startsWith('#')) return target;
  const [path = '', fragment] = target.split('#');
  const found = posix.join(posix.dirname(file), path);
  const here = posix.dirname(fileOf(pathOf(file), ''));
  const hash = fragment === undefined ? '' : `#${fragment}`;
  const from = (address: string) => posix.relative(here, address) || '.';
  if (known.has(found)) {
    const to = pathOf(found);
    if (ending !== '') return `${from(fileOf(to, ending))}${hash}`;
    const isFolder = to === '' || to.endsWith('/');
    return `${from(isFolder ? to || '.' : to)}${isFolder ? '/' : ''}${hash}`;
  }
  const isFile = /^(?:docs|examples)\/images\/|^docs\/llms\.txt$/.test(found);
  return isFile ? `${from(pathOf(found))}${hash}` : null;
}

/** The list of pages for models, as https://llmstxt.org describes it. */
export function llmsText(pages: readonly Page[]): string {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const sections = SECTIONS.map(({ title, pages: files }) => {
    const lines = files.flatMap((file) => {
      const page = byFile.get(file);
      return page ? [`- [${page.title}](${fileOf(page.path, '.md')}): ${page.lead}`] : [];
    });
    return [`## ${title}`, '', ...lines].join('\n');
  });
  return `# PML\n\n> ${SUMMARY}\n\nEvery page of this documentation is also Markdown, at its own address with \`.md\`.\n\n${sections.join('\n\n')}\n`;
}

/** Builds the site into `dist/docs`, for any web server, and into an archive for the gateway; returns the number of pages. */
export function buildSite(root: string): number {
  const pages = readPages(root);
  const known = new Set(pages.map(({ file }) => file));
  const fresh = join(root, 'dist', `.docs-${process.pid}`);
  const finished = join(root, 'dist', 'docs');
  rmSync(fresh, { recursive: true, force: true });
  const files: { readonly name: string; readonly data: string | Uint8Array }[] = [];
  const write = (name: string, data: string | Uint8Array) => {
    mkdirSync(dirname(join(fresh, name)), { recursive: true });
    writeFileSync(join(fresh, name), data);
    files.push({ name, data });
  };
  for (const page of pages) {
    write(fileOf(page.path, '.html'), pageHtml(page, pages));
    write(fileOf(page.path, '.md'), twinOf(page, known));
  }
  for (const folder of ['docs', 'examples']) {
    for (const file of globSync(`${folder}/images/*`, { cwd: root })) {
      write(pathOf(file), readFileSync(join(root, file)));
    }
  }
  write('llms.txt', llmsText(pages));
  write('search.json', JSON.stringify(searchIndex(pages)));
  const styles = [join(root, DASHBOARD, 'styles/tokens.css'), join(THEME, 'site.css')];
  write('site.css', styles.map((file) => readFileSync(file, 'utf8')).join('\n'));
  write('site.js', readFileSync(join(THEME, 'site.js')));
  for (const name of ['theme.js', 'icon.svg'])
    write(name, readFileSync(join(root, DASHBOARD, 'public', name)));
  // Beside the old one, then in its place: a gateway never reads half an archive.
  writeFileSync(`${fresh}.tar.gz`, gzipSync(createTar(files), { level: 9 }));
  renameSync(`${fresh}.tar.gz`, join(root, 'dist', ARCHIVE));
  rmSync(finished, { recursive: true, force: true });
  renameSync(fresh, finished);
  return pages.length;
}

/** Whether there is no built site, or one of older sources. */
export function isSiteStale(root: string): boolean {
  const built = join(root, 'dist', ARCHIVE);
  if (!existsSync(built)) return true;
  const at = statSync(built).mtimeMs;
  return globSync(SOURCES, { cwd: root }).some((path) => statSync(join(root, path)).mtimeMs > at);
}

/** The source of a page, with links to the other twins; links out of the site become plain text. */
function twinOf({ file, markdown }: Page, known: ReadonlySet<string>): string {
  return markdown
    .split(/(^```[\s\S]*?^```$|`[^`\n]+`)/m)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part.replaceAll(/(!?\[[^\]]*\])\(([^)\s]+)\)/g, (_, label: string, target: string) => {
            const to = relinked(target, file, known, '.md');
            return to === null ? label.slice(1, -1) : `${label}(${to})`;
          }),
    )
    .join('');
}

function searchIndex(pages: readonly Page[]) {
  return pages.map(({ path, title, passages }) => ({
    path,
    title,
    passages: passages.map(({ id, heading, text }) => [id, heading, text] as const),
  }));
}

function pageHtml(page: Page, pages: readonly Page[]): string {
  const byFile = new Map(pages.map((other) => [other.file, other]));
  const depth = fileOf(page.path, '').split('/').length - 1;
  const up = '../'.repeat(depth) || './';
  const order = SECTIONS.flatMap(({ pages: files }) => files).flatMap((file) => byFile.get(file) ?? []);
  const at = order.findIndex(({ file }) => file === page.file);
  const [before, after] = at < 0 ? [] : [order[at - 1], order[at + 1]];
  const isHere = (file: string) => file === page.file;
  const navigation = SECTIONS.map(({ title, pages: files }) => {
    const items = files.flatMap((file) => {
      const other = byFile.get(file);
      if (!other) return [];
      const current = isHere(file) ? ' aria-current="page"' : '';
      return [`<li><a href="${up}${other.path}"${current}>${escapeHtml(other.title)}</a></li>`];
    });
    return `<h2>${title}</h2><ul>${items.join('')}</ul>`;
  }).join('');
  const contents = page.headings
    .filter(({ level }) => level === 2 || (level === 3 && page.headings.length < 40))
    .map(({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`);
  const around = [
    before ? `<a rel="prev" href="${up}${before.path}">← ${escapeHtml(before.title)}</a>` : '<span></span>',
    after ? `<a rel="next" href="${up}${after.path}">${escapeHtml(after.title)} →</a>` : '',
  ].join('');
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} · PML</title>
<meta name="description" content="${escapeHtml(page.lead)}">
<link rel="icon" href="${up}icon.svg">
<link rel="alternate" type="text/markdown" href="${posix.basename(fileOf(page.path, '.md'))}">
<script src="${up}theme.js"></script>
<link rel="stylesheet" href="${up}site.css">
<script src="${up}site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${up}"><img src="${up}icon.svg" alt="" width="24" height="24"> PML <span>docs</span></a>
<form class="search" role="search"><input type="search" aria-label="Search the documentation" placeholder="Search ( / )" autocomplete="off"><ul hidden></ul></form>
<button type="button" class="theme" hidden>Theme</button>
</header>
<div class="frame">
<details class="menu"><summary>All pages</summary><nav aria-label="All pages">${navigation}</nav></details>
<main id="content" tabindex="-1">
${page.html}
<nav class="around" aria-label="Previous and next page">${around}</nav>
<footer><a href="${posix.basename(fileOf(page.path, '.md'))}">This page as Markdown</a> · <a href="${up}llms.txt">llms.txt</a></footer>
</main>
${contents.length > 1 ? `<aside><nav aria-label="On this page"><h2>On this page</h2><ul>${contents.join('')}</ul></nav></aside>` : ''}
</div>
</body>
</html>
`;
}
