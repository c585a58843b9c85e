import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { guestTypes } from '../../src/core/capabilities/guest-types.ts';
import { parseFile, type SourceFile, sourceFiles } from '../check/source-file.ts';
import { type Addresses, addressesIn } from './addresses.ts';
import { inAscii } from './ascii.ts';
import { clientTypes } from './client-types.ts';
import { licencesOf } from './licences.ts';

/** A file under `dist`: path and content, in the order of writing. */
export type BuiltFile = readonly [path: string, content: string | Uint8Array];

/** Inputs of a bundle; a change to any of them makes `dist` stale. */
const INPUTS = ['src/**/*.ts', 'scripts/bundle/*.ts', 'package-lock.json', 'package.json'];
/** The page has its own build. */
const LEFT_OUT = /\.test\.ts$|^src\/surfaces\/dashboard\/app\//;

/** The file that programs import from the package; it shares nothing with the rest. */
const CLIENT = 'src/client.ts';

/** Stands for the root of the package in an address, until the chunk of the address is known. */
const ROOT_MARK = 'pml-root:';
const MARKED = /(["'])pml-root:([^"']*)\1/g;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A source file uses its own path in a way that does not survive bundling. */
export class BundleError extends Error {}

/**
 * Bundles `src/` into a few files: `main.js` with its chunks, and one file per worker. A worker shares no chunk with
 * the others, because the sandbox's child may only read its own folder.
 */
export async function bundle(given: string): Promise<BuiltFile[]> {
  // The bundler names modules by their real paths.
  const root = realpathSync(given);
  const builtFrom = stamp(root);
  const files = inputs(root)
    .filter(({ path, text }) => path.startsWith('src/') && text.includes('import.meta'))
    .map(parseFile)
    .map(addressesIn);
  const problems = files.flatMap((file) => [...file.problems, ...dangling(root, file)]);
  if (problems.length > 0) throw new BundleError(problems.join('\n'));

  const targets = new Set(files.flatMap(({ addresses }) => addresses.map(({ target }) => target)));
  const named = [...targets].filter((path) => path.startsWith('src/') && !path.endsWith('/'));
  const workers = named.filter((path) => path.endsWith('.ts'));
  const data = named.filter((path) => !path.endsWith('.ts'));
  const plugin = moveAddresses(root, files);
  const hasClient = existsSync(join(root, CLIENT));
  const chunks = await Promise.all([
    ...(hasClient ? [chunksOf(root, CLIENT, plugin)] : []),
    ...workers.map((path) => chunksOf(root, path, plugin)),
    chunksOf(root, 'src/main.ts', plugin),
  ]);
  // The entry file is written last: when it is complete, everything it needs is there.
  const code = chunks.flat().map(({ fileName, code }): BuiltFile => [fileName, inAscii(fileName, code)]);
  const main = code.findIndex(([path]) => path === 'main.js');
  const [[, start] = ['', '']] = code.splice(main, 1);
  const modules = chunks.flat().flatMap(({ moduleIds }) => moduleIds);
  return [
    ...data.map((path): BuiltFile => [path.slice('src/'.length), readFileSync(join(root, path))]),
    ...(hasClient ? [['client.d.ts', clientTypes()] as const, ['guest.d.ts', guestTypes()] as const] : []),
    ['THIRD-PARTY-LICENSES.txt', licencesOf(modules)],
    ...code,
    ['main.js', `${builtFrom}\n${start}`],
  ];
}

/** Whether `dist` has no bundle, or one of other sources. */
export function isStale(root: string): boolean {
  const built = join(root, 'dist', 'main.js');
  return !existsSync(built) || !readFileSync(built, 'utf8').startsWith(`${stamp(root)}\n`);
}

function stamp(root: string): string {
  const hash = createHash('sha256');
  for (const { path, text } of inputs(root)) hash.update(`${path}\0${text}\0`);
  return `// Bundled from sources with the hash ${hash.digest('hex')}`;
}

function inputs(root: string): SourceFile[] {
  return sourceFiles(root, INPUTS).filter(({ path }) => !LEFT_OUT.test(path));
}

async function chunksOf(root: string, entry: string, plugin: Plugin): Promise<OutputChunk[]> {
  const isMain = entry === 'src/main.ts';
  const name = entry.replace(/^src\//, '').replace(/\.ts$/, '');
  const build = await rolldown({
    cwd: root,
    input: { [name]: join(root, entry) },
    platform: 'node',
    external: externals(root),
    resolve: { mainFields: ['module', 'main'] },
    plugins: [plugin],
    logLevel: 'warn',
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      codeSplitting: isMain,
      comments: false,
    });
    return output.filter((part) => part.type === 'chunk');
  } finally {
    await build.close();
  }
}

/**
 * Packages that npm installs beside this one; every other import becomes part of the bundle. Optional packages are
 * external only for our own code, which can do without them: a package that needs one includes it.
 */
function externals(root: string): (id: string, importer: string | undefined) => boolean {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const isAnyOf = (names: object | undefined, id: string) =>
    Object.keys(names ?? {}).some((name) => id === name || id.startsWith(`${name}/`));
  return (id, importer) =>
    isBuiltin(id) ||
    isAnyOf(manifest.dependencies, id) ||
    (isAnyOf(manifest.peerDependencies, id) && !importer?.includes('node_modules'));
}

function dangling(root: string, { file, addresses }: Addresses): string[] {
  return addresses
    .filter(({ target }) => !target.startsWith('dist/') && !existsSync(join(root, target)))
    .map(({ line, target }) => `${file.path}:${line} names ${target}, which does not exist`);
}

/** The corresponding path in the built package. */
function builtPathOf(path: string): string {
  return path.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');
}

/** Modules leave their folders, so relative addresses are rewritten relative to their chunk. */
function moveAddresses(root: string, files: readonly Addresses[]): Plugin {
  const byId = new Map(files.map(({ file, addresses }) => [join(root, file.path), addresses]));
  return {
    name: 'move-addresses',
    transform(code, id) {
      return byId
        .get(id)
        ?.reduceRight(
          (rest, { start, end, target }) =>
            `${rest.slice(0, start)}'${ROOT_MARK}${builtPathOf(target)}'${rest.slice(end)}`,
          code,
        );
    },
    renderChunk(code, { fileName }) {
      const folder = posix.dirname(posix.join('dist', fileName));
      return code.replace(MARKED, (_, quote: string, path: string) => {
        const to = posix.relative(folder, path) || '.';
        return `${quote}${to.startsWith('.') ? '' : './'}${to}${path.endsWith('/') ? '/' : ''}${quote}`;
      });
    },
  };
}
