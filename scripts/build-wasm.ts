/**
 * Compiles `assembly/` and writes the module into `src/core/numeric/kernels-bytes.ts`,
 * so that core can load its kernels without a file system. Run by `npm run build:wasm`.
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
  ...['--enable', 'simd'],
];
const RELAXED = ['--enable', 'relaxed-simd'];
const SHARED = [
  ...['--enable', 'threads', '--importMemory', '--sharedMemory'],
  ...['--initialMemory', '1', '--maximumMemory', '1024'],
];

/** The required text of `kernels-bytes.ts` for the current sources. */
export async function renderKernelsModule(): Promise<string> {
  const sources = await readSources();
  const relaxed = await compile(sources, 'kernels.ts', RELAXED);
  const plain = await compile(sources, 'kernels.ts', []);
  const encoder = await compile(sources, 'encoder.ts', SHARED);
  const literal = (bytes: Uint8Array) => `\n  '${Buffer.from(bytes).toString('base64')}'`;
  return [
    '// Written by `npm run build:wasm`; do not edit.',
    `// SHA-256 of the files in assembly/, in order of name: ${hashOf(sources)}`,
    `export const KERNELS_BASE64 =${literal(relaxed)};`,
    '/** The same without relaxed SIMD, for engines that lack it. */',
    `export const PLAIN_KERNELS_BASE64 =${literal(plain)};`,
    `export const ENCODER_BASE64 =${literal(encoder)};`,
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

async function compile(
  sources: ReadonlyMap<string, string>,
  entry: string,
  features: readonly string[],
): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined;
  const options = [...COMPILER_OPTIONS, ...features, '--outFile', 'module.wasm'];
  const { error, stderr } = await asc.main([entry, ...options], {
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
