import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { parseTar } from 'nanotar';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

function typeOf(name: string): string {
  return TYPES[extname(name)] ?? 'application/octet-stream';
}

/** Preferred encodings first; each compressed file is next to the original. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** These names contain a hash of the content, so they can be cached forever. */
const HASHED = /^\/assets\/[\w.-]+$/;
const PLAIN = /^\/[\w-]+\.(?:svg|js)$/;

/** The built page; if it was not built, a page that says so. Public, because it contains no data. */
export interface PageFiles {
  /** A file of the page; null if the path has none. */
  asset(request: Request): Promise<Response | null>;
  index(request: Request, status?: number): Promise<Response>;
}

/** `docs` is the archive of the built documentation, which is offered at `/docs`. */
export function pageFiles(folder: string, docs: string): PageFiles {
  const send = sendFrom(folder);
  const document = documents(docs);
  return {
    async asset(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/docs') return redirect('/docs/');
      if (pathname === '/llms.txt') return redirect('/docs/llms.txt');
      if (pathname.startsWith('/docs/')) return await document(pathname.slice('/docs/'.length));
      if (HASHED.test(pathname)) {
        return await send(pathname.slice(1), request, 200, 'public, max-age=31536000, immutable');
      }
      return PLAIN.test(pathname) ? await send(pathname.slice(1), request, 200, 'no-cache') : null;
    },
    async index(request, status = 200) {
      return (await send('index.html', request, status, 'no-cache')) ?? notBuilt('dashboard');
    },
  };
}

/** The documentation: every page at its address without an ending, and as Markdown with `.md`. */
function documents(archive: string): (path: string) => Promise<Response> {
  let read: { readonly at: number; readonly files: ReadonlyMap<string, Uint8Array> } | null = null;
  /** Read with the first request, and again when it was built again. */
  const files = async () => {
    const at = (await stat(archive).catch(() => null))?.mtimeMs;
    if (at === undefined) return null;
    if (read?.at !== at) {
      // A copy: the parser reads from the start of the memory below, which may be shared.
      const entries = parseTar(new Uint8Array(await unzip(await readFile(archive))));
      read = { at, files: new Map(entries.map(({ name, data = new Uint8Array() }) => [name, data])) };
    }
    return read.files;
  };
  return async (path) => {
    const known = await files();
    if (known === null) return notBuilt('documentation');
    const isFolder = path === '' || path.endsWith('/');
    if (!isFolder && known.has(`${path}/index.html`)) return redirect(`/docs/${path}/`);
    const name = isFolder ? `${path}index.html` : extname(path) === '' ? `${path}.html` : path;
    const content = known.get(name);
    if (!content) return message(404, 'This page does not exist', ALL_PAGES);
    return new Response(Buffer.from(content), {
      headers: { 'content-type': typeOf(name), 'cache-control': 'no-cache' },
    });
  };
}

const unzip = promisify(gunzip);

const ALL_PAGES = '<p><a href="/docs/">All pages of the documentation</a></p>';

function redirect(to: string): Response {
  return new Response(null, { status: 302, headers: { location: to } });
}

/** Sends a file of the folder; null if it does not exist. */
function sendFrom(folder: string) {
  return async (name: string, request: Request, status: number, caching: string) => {
    const accepted = request.headers.get('accept-encoding') ?? '';
    const found = ENCODINGS.find(
      ([encoding, ending]) => accepted.includes(encoding) && existsSync(join(folder, `${name}${ending}`)),
    );
    const content = await readFile(join(folder, `${name}${found?.[1] ?? ''}`)).catch(() => null);
    if (content === null) return null;
    return new Response(content, {
      status,
      headers: {
        'content-type': typeOf(name),
        'cache-control': caching,
        vary: 'accept-encoding',
        ...(found && { 'content-encoding': found[0] }),
      },
    });
  };
}

const BUILDERS = { dashboard: 'npm run build:dashboard', documentation: 'npm run docs' };

function notBuilt(what: keyof typeof BUILDERS): Response {
  return message(
    503,
    `The ${what} is not built yet`,
    `<p>The gateway is running and everything else works. Build the page and load this again:</p>
<pre>${BUILDERS[what]}</pre>`,
  );
}

function message(status: number, title: string, text: string): Response {
  const html = `<!doctype html>
<html lang="en">
<title>PML</title>
<h1>${title}</h1>
${text}
</html>
`;
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
