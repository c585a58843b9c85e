/**
 * `npm run lock`: completes package-lock.json, so that `npm ci` accepts it on every platform without warnings.
 * npm leaves out optional packages of other platforms that it could not look up, and then rejects its own lock
 * because they are missing; an entry with name, version and platform is enough.
 * npm warns about each package that requires another Node than the machine's, although they run on PML's own Node. So
 * their requirements are checked against that Node here, and removed from the lock.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  resolved?: string;
  engines?: Record<string, string>;
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
write();
// npm itself, on the Node of the scripts: it fails with EBADENGINE and names the package.
const npm = process.env.npm_execpath;
if (!npm) throw new Error('Start this with "npm run lock": npm is needed to check what packages require.');
execFileSync(process.execPath, [npm, 'ci', '--dry-run', '--engine-strict', '--ignore-scripts'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
for (const [path, entry] of Object.entries(packages)) if (path !== '') delete entry.engines;
write();
console.log(added.length === 0 ? 'The lock is complete.' : `Added ${added.length}: ${added.join(', ')}`);

function write(): void {
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
}

/** Where Node would find `name` for the package at `from`: its own folder, then each parent folder. */
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

/** From the name, since every such package is named after its platform. */
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
