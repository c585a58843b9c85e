/**
 * Compiles `assembly/` and writes the module into `src/core/numeric/kernels-bytes.ts`,
 * so that core needs no file system to get at its kernels. Run by `npm run build:wasm`.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const SOURCES = new URL('../assembly/', import.meta.url);
export const KERNELS_FILE = new URL('../src/core/numeric/kernels-bytes.ts', import.meta.url);

const COMPILER_OPTIONS = [
  ...['--optimizeLevel', '3', '--converge', '--noAssert', '--runtime', 'stub'],
  ...['--enable', 'simd', '--enable', 'relaxed-simd'],
];

/** The text that `kernels-bytes.ts` must have for the sources as they are now. */
export async function renderKernelsModule(): Promise<string> {
  const sources = await readSources();
  const bytes = await compile(sources);
  return [
    '// Written by `npm run build:wasm`; do not edit.',
    `/** Of the files in assembly/, in order of name. */`,
    `export const KERNELS_SOURCE_SHA256 = '${hashOf(sources)}';`,
    `export const KERNELS_BASE64 =\n  '${Buffer.from(bytes).toString('base64')}';`,
    '',
  ].join('\n');
}

async function readSources(): Promise<Map<string, string>> {
  const names = (await readdir(SOURCES)).filter((name) => name.endsWith('.ts')).sort();
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readFile(new URL(name, SOURCES), 'utf8')] as const),
    ),
  );
}

function hashOf(sources: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, text] of sources) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex');
}

async function compile(sources: ReadonlyMap<string, string>): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined;
  const { error, stderr } = await asc.main(['kernels.ts', ...COMPILER_OPTIONS, '--outFile', 'kernels.wasm'], {
    readFile: (name) => sources.get(name) ?? null,
    writeFile: (_name, contents) => {
      bytes = contents as Uint8Array;
    },
    listFiles: () => [],
  });
  if (error || !bytes) throw new Error(`assembly/ does not compile:\n${stderr.toString()}`, { cause: error });
  return bytes;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const text = await renderKernelsModule();
  await writeFile(KERNELS_FILE, text);
  console.log(`src/core/numeric/kernels-bytes.ts: ${text.length} characters`);
}
