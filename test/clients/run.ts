/**
 * `npm run clients [-- --only NAME]... [--folder DIR] [--write]`: installs real clients from npm into a temporary folder,
 * drives each of them against a real gateway with reference servers, and prints what worked. `--write` updates
 * docs/clients.md; `--folder` keeps what was installed. Fails when a check fails.
 */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { servePml } from '../support/run-pml.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs', 'clients.md');

/** Exact versions, each with what it needs besides itself. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  '@modelcontextprotocol/sdk': ['@modelcontextprotocol/sdk@1.32.2'],
  '@modelcontextprotocol/client': ['@modelcontextprotocol/client@2.4.0'],
  '@modelcontextprotocol/inspector': ['@modelcontextprotocol/inspector@2.12.0'],
  '@ai-sdk/mcp': ['@ai-sdk/mcp@2.0.96'],
  '@langchain/mcp-adapters': ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.2.13'],
};

const CHECKS = [
  'connect',
  'list',
  'search',
  'call',
  'code',
  'image',
  'large result',
  'approval',
  'progress',
  'native lane',
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(CLIENTS) },
    folder: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

type Verdicts = Readonly<Record<string, true | string>>;

async function measure(folder: string): Promise<Map<string, Verdicts>> {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  const packages = values.only.flatMap((name) => CLIENTS[name] ?? []);
  const missing = packages.filter(
    (each) => !existsSync(join(folder, 'node_modules', each.replace(/@[^@]*$/, ''))),
  );
  if (missing.length > 0)
    await run('npm', ['install', '--no-audit', '--no-fund', ...missing], { cwd: folder });
  copyFileSync(join(import.meta.dirname, 'drive.ts'), join(folder, 'drive.ts'));
  const lines = Array.from({ length: 6_000 }, (_, n) => `line ${n + 1}\n`);
  writeFileSync(join(folder, 'large.txt'), lines.join(''));

  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [
      join(ROOT, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'),
      ...args,
    ],
  });
  const mcpServers = {
    everything: server('everything'),
    filesystem: server('filesystem', folder),
    memory: { ...server('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  };
  const pml = { permissions: { ask: ['memory:delete_entities'], approval_wait_ms: 0 } };
  const data = mkdtempSync(join(tmpdir(), 'pml-clients-data-'));
  const serving = await servePml({ data, config: { mcpServers, pml } });
  try {
    const found = new Map<string, Verdicts>();
    const env = { ...process.env, PML_URL: serving.url, PML_KEY: serving.token, PML_FOLDER: folder };
    for (const name of values.only) {
      process.stderr.write(`${name} …\n`);
      const { stdout } = await run(process.execPath, ['drive.ts', name], {
        cwd: folder,
        env,
        timeout: 300_000,
      });
      found.set(name, JSON.parse(stdout.trim().split('\n').at(-1)!));
    }
    return found;
  } finally {
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function versionOf(folder: string, name: string): string {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function table(folder: string, found: ReadonlyMap<string, Verdicts>): string {
  const cell = (verdict: true | string | undefined) =>
    verdict === true ? '✓' : verdict === undefined ? '–' : verdict === 'not tried' ? '–' : '✗';
  const rows = [...found].map(
    ([name, verdicts]) =>
      `| \`${name}\` ${versionOf(folder, name)} | ${CHECKS.map((check) => cell(verdicts[check])).join(' | ')} |`,
  );
  return [`| client | ${CHECKS.join(' | ')} |`, `|---|${'---|'.repeat(CHECKS.length)}`, ...rows].join('\n');
}

const BEGIN = '<!-- measured by: npm run clients -- --write -->';
const END = '<!-- end -->';

function write(text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [head] = page.split(BEGIN);
  const tail = page.slice(page.indexOf(END));
  writeFileSync(PAGE, `${head}${BEGIN}\n\n${text}\n\n${tail}`);
}

const folder =
  values.folder === undefined ? mkdtempSync(join(tmpdir(), 'pml-clients-')) : resolve(values.folder);
mkdirSync(folder, { recursive: true });
try {
  const found = await measure(folder);
  const shown = table(folder, found);
  process.stdout.write(`${shown}\n`);
  const failed = [...found].flatMap(([name, verdicts]) =>
    Object.entries(verdicts).flatMap(([check, verdict]) =>
      verdict === true || verdict === 'not tried' ? [] : [`${name}, ${check}: ${verdict}`],
    ),
  );
  if (failed.length > 0) process.stderr.write(`${failed.join('\n')}\n`);
  if (values.write) {
    const date = new Date().toISOString().slice(0, 10);
    write(`${date}, Node ${process.versions.node}:\n\n${shown}`);
  }
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
