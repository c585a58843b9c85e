import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { ablationTable } from './ablation-table.ts';

const APP = 'src/surfaces/dashboard/app';
/** Its figures are shown, too. */
const ABLATION = 'docs/ablation.md';
/** What the page is made of; a change of any of it makes the built page stale. */
const SOURCES = [
  `${APP}/**/*`,
  'src/surfaces/dashboard/shared/*',
  'src/core/vocabulary/*',
  'package-lock.json',
  ABLATION,
];
const COMPRESSIBLE = /\.(?:html|js|css|svg|json)$/;

/** Builds beside the old page and then takes its place: a gateway that serves it meanwhile never finds half. */
export async function buildDashboard(root: string): Promise<number> {
  const finished = join(root, 'dist', 'dashboard');
  const fresh = join(root, 'dist', `.dashboard-${process.pid}`);
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
      // Data addresses are against the content policy, but for pictures.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: 'manifest.json',
      reportCompressedSize: false,
    },
  });
  const bytes = compress(fresh);
  takePlace(fresh, finished);
  return bytes;
}

/** Whether there is no built page, or one of older sources. */
export function isStale(root: string): boolean {
  const built = join(root, 'dist', 'dashboard', 'index.html');
  if (!existsSync(built)) return true;
  const at = statSync(built).mtimeMs;
  return globSync(SOURCES, { cwd: root }).some((path) => statSync(join(root, path)).mtimeMs > at);
}

/** Of two that build at once the later one stays. */
function takePlace(fresh: string, finished: string): void {
  const old = `${fresh}-old`;
  for (;;) {
    try {
      renameSync(finished, old);
    } catch {
      // There was none.
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

/** Answers the size of all with gzip, in bytes. */
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
