import {
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { ablationTable } from './ablation-table.ts';

const APP = 'src/surfaces/dashboard/app';
/** The page also shows its figures. */
const ABLATION = 'docs/ablation.md';
/** Sources of the page; a change to any of them makes the built page stale. */
const SOURCES = [
  `${APP}/**/*`,
  'src/surfaces/dashboard/shared/*',
  'src/core/vocabulary/*',
  'package-lock.json',
  ABLATION,
];
const COMPRESSIBLE = /\.(?:html|js|css|svg|json)$/;

/** Builds beside the old page and then replaces it: a gateway that serves it meanwhile never finds half a page. */
export async function buildDashboard(root: string): Promise<number> {
  const finished = join(root, 'dist', 'dashboard');
  const fresh = join(root, 'dist', `.dashboard-${process.pid}`);
  // Vite would build a development page in an environment such as that of the tests.
  process.env.NODE_ENV = 'production';
  await build({
    configFile: false,
    root: join(root, APP),
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es' },
    define: { __ABLATION__: JSON.stringify(ablationTable(readFileSync(join(root, ABLATION), 'utf8'))) },
    build: {
      outDir: fresh,
      emptyOutDir: true,
      target: 'es2024',
      // The content policy only allows data URLs for images.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // All styles together are smaller than the first script, and a page that opens has them already.
      cssCodeSplit: false,
      manifest: 'manifest.json',
      reportCompressedSize: false,
    },
  });
  const bytes = compress(fresh);
  if (isSamePage(fresh, finished)) keep(finished, fresh);
  else takePlace(fresh, finished);
  return bytes;
}

/** The names of all other files contain a hash of their content, and the page names them. */
function isSamePage(fresh: string, finished: string): boolean {
  const read = (folder: string, name: string) => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  };
  return ['index.html', 'manifest.json', 'theme.js', 'icon.svg'].every(
    (name) => read(fresh, name) === read(finished, name),
  );
}

/** Marks the finished page as current without replacing the files that a gateway is serving. */
function keep(finished: string, fresh: string): void {
  const now = new Date();
  utimesSync(join(finished, 'index.html'), now, now);
  rmSync(fresh, { recursive: true });
}

/** Whether there is no built page, or one of older sources. */
export function isStale(root: string): boolean {
  const built = join(root, 'dist', 'dashboard', 'index.html');
  if (!existsSync(built)) return true;
  const at = statSync(built).mtimeMs;
  return globSync(SOURCES, { cwd: root }).some((path) => statSync(join(root, path)).mtimeMs > at);
}

/** Of two concurrent builds, the later one stays. */
function takePlace(fresh: string, finished: string): void {
  const old = `${fresh}-old`;
  for (;;) {
    try {
      renameSync(finished, old);
    } catch {
      // There was no page yet.
    }
    try {
      renameSync(fresh, finished);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Returns the total gzipped size, in bytes. */
function compress(folder: string): number {
  let bytes = 0;
  for (const path of globSync('**/*', { cwd: folder })) {
    if (!COMPRESSIBLE.test(path) || path === 'manifest.json') continue;
    const content = readFileSync(join(folder, path));
    const zipped = gzipSync(content, { level: 9 });
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(join(folder, `${path}.gz`), zipped);
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(content, quality));
    bytes += zipped.length;
  }
  return bytes;
}
