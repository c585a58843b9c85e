/**
 * `npm run simulate [-- OPTIONS]`: writes a made-up past of 10^3 and more traces into a real store, and measures a
 * gateway on it. --least N, --most N, --most-tools N: sizes; --distinct N: number of different runs; --store URL,
 * --postgres: instead of the embedded store; --quick: without measurements that wait until the gateway has learned
 * everything (suggestions, training); --json; --write.
 */
import { fork } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { loadSettings } from '../../src/adapters/config/load-settings.ts';
import { createEmbedder } from '../../src/adapters/embedding/create-embedder.ts';
import { settingsHash } from '../../src/engine/catalogue/refresh-catalogue.ts';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { withSections } from './growth-page.ts';
import { madeUpTeam } from './made-up-team.ts';
import type { FiguresOf, GatewayJob, Measure } from './measured-gateway.ts';
import { type ScratchStore, scratchPglite, scratchPostgres } from './scratch-store.ts';
import { type Axis, asMarkdown, type Measured } from './tell-growth.ts';
import { writeTeam } from './write-team.ts';

const GATEWAY = fileURLToPath(new URL('./measured-gateway.ts', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/growth.md', import.meta.url));

const DEFAULTS = {
  least: 1_000,
  most: 100_000,
  leastTools: 100,
  mostTools: 10_000,
  /** Fixed sizes, while the other size grows. */
  tools: 1_000,
  traces: 1_000,
  starts: 3,
  /** Number of different runs. */
  distinct: 100_000,
};

const { values } = parseArgs({
  options: {
    least: { type: 'string', default: String(DEFAULTS.least) },
    most: { type: 'string', default: String(DEFAULTS.most) },
    'most-tools': { type: 'string', default: String(DEFAULTS.mostTools) },
    distinct: { type: 'string', default: String(DEFAULTS.distinct) },
    store: { type: 'string' },
    postgres: { type: 'boolean' },
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});
const say = (line: string) => process.stderr.write(`${clock()} ${line}\n`);
const { model, dimension } = createEmbedder({ kind: 'minilm' });

const taken = { begun: performance.now(), load: loadavg()[0]! };
const server = values.postgres ? await startPostgres() : null;
try {
  const axes = await measureAll(values.store ?? server?.url ?? null);
  if (values.json) console.log(JSON.stringify(axes));
  else console.log(axes.map(asMarkdown).join('\n\n'));
  if (values.write) await writePage(axes, taken);
} finally {
  await server?.dispose();
}
process.exit(0);

async function measureAll(url: string | null): Promise<Axis[]> {
  const { tools, traces } = DEFAULTS;
  const byTraces: Measured[] = [];
  for (const size of decades(Number(values.least), Number(values.most))) {
    byTraces.push(await measureSize(url, { traces: size, tools }));
  }
  const byTools: Measured[] = [];
  for (const size of decades(DEFAULTS.leastTools, Number(values['most-tools']))) {
    const known = byTraces.find((at) => at.traces === traces && at.tools === size);
    byTools.push(known ?? (await measureSize(url, { traces, tools: size })));
  }
  const store = url === null ? 'the embedded store' : 'PostgreSQL';
  const axes: Axis[] = [
    { name: 'traces', store, fixed: `${tools.toLocaleString('en')} tools`, measured: byTraces },
    { name: 'tools', store, fixed: `${traces.toLocaleString('en')} traces`, measured: byTools },
  ];
  return axes.filter(({ measured }) => measured.length > 0);
}

async function measureSize(
  url: string | null,
  { traces, tools }: { readonly traces: number; readonly tools: number },
): Promise<Measured> {
  const scratch = url === null ? await scratchPglite() : await scratchPostgres(url);
  try {
    const what = `${traces} traces, ${tools} tools`;
    say(`${what}: writing …`);
    const config = await writeConfig(scratch, tools);
    const written = await fill(scratch, config, { traces, tools });
    const diskBytes = await scratch.diskBytes();
    const job = { dir: scratch.dir, config, model, dimension, tools, traces };
    say(`${what}: ${written.edges} edges, written in ${written.seconds.toFixed(0)} s; a gateway on it …`);
    const first = await inGateway('start', job);
    const again: (typeof first)[] = [];
    while (again.length < DEFAULTS.starts) again.push(await inGateway('start', job));
    const settled = values.quick ? null : await inGateway('settled', job);
    const learned = values.quick ? null : await inGateway('learned', job);
    // Last, because it adds traces.
    const serving = await inGateway('search', job);
    return { traces, tools, written, diskBytes, first, again, settled, serving, learned };
  } finally {
    await scratch.remove();
  }
}

async function fill(
  scratch: ScratchStore,
  config: string,
  { traces, tools }: { readonly traces: number; readonly tools: number },
) {
  const { servers } = await loadSettings({ file: config, env: {}, cwd: scratch.dir });
  const crypto = {
    randomUuid: randomUUID,
    sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
  };
  const settingsHashes = new Map(servers.map((each) => [each.name, settingsHash(each, crypto)]));
  const db = await scratch.open();
  let toldAt = performance.now();
  try {
    const written = await writeTeam(db, madeUpTeam({ tools, model }), {
      traces,
      distinct: Number(values.distinct),
      embedding: { model, dimension },
      settingsHashes,
      onProgress: (done) => {
        if (performance.now() - toldAt < 10_000) return;
        toldAt = performance.now();
        say(`  ${done} traces`);
      },
    });
    // A server analyzes by itself; the embedded database never does.
    if (scratch.url !== null) await sql`analyze`.execute(db);
    return written;
  } finally {
    await db.destroy();
  }
}

/** Servers that are never started: their tools are known already. */
async function writeConfig({ dir, url }: ScratchStore, tools: number): Promise<string> {
  const mcpServers = Object.fromEntries(
    madeUpTeam({ tools, model }).servers.map((name) => [
      name,
      { command: process.execPath, args: ['-e', '0'] },
    ]),
  );
  const file = join(dir, 'pml.json');
  await writeFile(file, JSON.stringify({ mcpServers, ...(url !== null && { pml: { store: { url } } }) }));
  return file;
}

async function inGateway<M extends Measure>(measure: M, job: GatewayJob): Promise<FiguresOf<M>> {
  const child = fork(GATEWAY, [measure, JSON.stringify(job)], { stdio: ['ignore', 2, 2, 'ipc'] });
  let figures: FiguresOf<M> | undefined;
  child.on('message', (message) => {
    figures = message as FiguresOf<M>;
  });
  const [code, signal] = await once(child, 'exit');
  if (!figures || code !== 0) throw new Error(`The gateway ended with ${signal ?? code} and no figures`);
  say(`  ${measure}: ${JSON.stringify(figures)}`);
  return figures;
}

/** Minutes and seconds since the command began. */
function clock(): string {
  const seconds = Math.floor((performance.now() - taken.begun) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Powers of ten from the least to the most. */
function decades(least: number, most: number): number[] {
  const sizes: number[] = [];
  for (let size = least; size <= most; size *= 10) sizes.push(size);
  return sizes;
}

/** Writes each table with the command that produced it; people write the text around them. */
async function writePage(axes: readonly Axis[], taken: { readonly begun: number; readonly load: number }) {
  const command = ['npm run simulate --', ...process.argv.slice(2)].join(' ');
  const minutes = Math.ceil((performance.now() - taken.begun) / 60_000);
  const loads = [taken.load, loadavg()[0]!].map((load) => load.toFixed(1));
  const stated = [
    `${new Date().toISOString().slice(0, 10)}, \`${command}\`, ${minutes} minutes, Node ${process.versions.node}, ${cpus().length} cores,`,
    `load average ${loads[0]} when it began and ${loads[1]} at the end.`,
  ].join('\n');
  const sections = axes.map((axis) => {
    const [head, ...rest] = asMarkdown(axis).split('\n');
    return { name: `${axis.name}, ${axis.store}`, text: [head, '', stated, ...rest].join('\n') };
  });
  await writeFile(PAGE, withSections(await readFile(PAGE, 'utf8'), sections));
}
