import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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

export function pageFiles(folder: string): PageFiles {
  const send = async (name: string, request: Request, status: number, caching: string) => {
    const accepted = request.headers.get('accept-encoding') ?? '';
    const found = ENCODINGS.find(
      ([encoding, ending]) => accepted.includes(encoding) && existsSync(join(folder, `${name}${ending}`)),
    );
    const content = await readFile(join(folder, `${name}${found?.[1] ?? ''}`)).catch(() => null);
    if (content === null) return null;
    return new Response(content, {
      status,
      headers: {
        'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
        'cache-control': caching,
        vary: 'accept-encoding',
        ...(found && { 'content-encoding': found[0] }),
      },
    });
  };
  return {
    async asset(request) {
      const { pathname } = new URL(request.url);
      if (HASHED.test(pathname)) {
        return await send(pathname.slice(1), request, 200, 'public, max-age=31536000, immutable');
      }
      return PLAIN.test(pathname) ? await send(pathname.slice(1), request, 200, 'no-cache') : null;
    },
    async index(request, status = 200) {
      return (await send('index.html', request, status, 'no-cache')) ?? notBuilt();
    },
  };
}

function notBuilt(): Response {
  const text = `<!doctype html>
<html lang="en">
<title>PML</title>
<h1>The dashboard is not built yet</h1>
<p>The gateway is running and everything else works. Build the page and load this again:</p>
<pre>npm run build:dashboard</pre>
</html>
`;
  return new Response(text, { status: 503, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
