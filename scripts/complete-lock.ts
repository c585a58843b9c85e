/**
 * `npm run lock`: makes package-lock.json complete, so that `npm ci` takes it on every platform.
 * npm leaves out optional packages of other platforms that it could not look up, and then refuses
 * its own lock for lacking them; an entry with name, version and platform is all it wants.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];
const LOCK = new URL('../package-lock.json', import.meta.url);

const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: Record<string, LockEntry> };
const { packages } = lock;
const added: string[] = [];

for (const [parent, entry] of Object.entries({ ...packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const installed = lookUp(parent, name);
    const version = range.replace(/^[\^~>=v\s]+/, '').split(/\s|\|\|/)[0] ?? range;
    const exact = /^\d/.test(range);
    if (installed && (!exact || packages[installed]?.version === version)) continue;
    const path = installed ? `${parent}/node_modules/${name}` : `node_modules/${name}`;
    packages[path] = { version, ...(entry.dev && { dev: true }), optional: true, ...platformOf(name) };
    added.push(`${name}@${version}`);
  }
}

lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'The lock is complete.' : `Added ${added.length}: ${added.join(', ')}`);

/** Where Node would find `name` for the package at `from`: its own folder, then each one above. */
function lookUp(from: string, name: string): string | undefined {
  const folders =
    from === ''
      ? ['']
      : ['', ...from.split('/node_modules/').map((_, i, all) => all.slice(0, i + 1).join('/node_modules/'))];
  return folders
    .reverse()
    .map((folder) => (folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`))
    .find((path) => packages[path]);
}

/** Read off the name, as every such package is named after its platform. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const parts = (name.split('/').pop() ?? '')
    .split(/[-_.]/)
    .map((part) => (part === 'win' || part === 'windows' ? 'win32' : part));
  const os = parts.find((part) => SYSTEMS.includes(part));
  const cpu = parts.find((part) => PROCESSORS.includes(part));
  return {
    ...(os && { os: [os] }),
    ...(cpu && { cpu: [cpu] }),
    ...(parts.some((part) => part.startsWith('musl')) && { libc: ['musl'] }),
  };
}
