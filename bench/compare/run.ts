/**
 * `npm run compare [-- --only pml,mcp-hub] [--peers DIR] [--json] [--write]`: the same work through PML and through the
 * alternatives a user has, interleaved in one run, so that noise of the machine affects all.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setup as buildBundle } from '../../test/support/build-bundle.ts';
import type { Contender } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { measure } from './measure.ts';
import { installPeers } from './peers.ts';
import { endProcesses, memoryOf } from './process-tree.ts';
import { asBars, asMarkdown, asTable, type Measured } from './tell-comparison.ts';

const ECHO = fileURLToPath(new URL('../support/echo-server.ts', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/compare.md', import.meta.url));

const DEFAULTS = {
  servers: 5,
  /** Tools per server, besides the one that is called. */
  tools: 20,
  calls: 400,
  warmUp: 30,
  inFlight: 32,
  callsInFlight: 1_500,
  programs: 30,
  callsFromCode: 1_000,
  callMs: 30_000,
  figureMs: 120_000,
  /** Milliseconds for a contender to start, with all it installs on the way, and to stop by itself. */
  startMs: 180_000,
  stopMs: 10_000,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    peers: { type: 'string' },
    json: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});
const say = (line: string) => process.stderr.write(`${line}\n`);

const folder = await mkdtemp(join(tmpdir(), 'pml-compare-'));
// Everything that is started inherits it, daemons too, and is ended by it.
process.env.PML_COMPARE = folder;
// Users start what is shipped.
await buildBundle();
process.env.PML_FROM = 'dist';
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => void cleanUp().then(() => process.exit(1)));
try {
  const peers = values.peers ? resolve(values.peers) : join(folder, 'peers');
  if (!values.peers) {
    say('installing the peers …');
    await mkdir(peers);
    await installPeers(peers);
  }
  const { started, absent } = await startAll(peers, values.only?.split(',') ?? Object.keys(CONTENDERS));
  const residentBytes = (pid: number) => memoryOf(pid, ECHO).resident;
  const measured = await measure(started, DEFAULTS, residentBytes, say);
  for (const contender of started) await inTime(DEFAULTS.stopMs, contender.stop()).catch(() => {});
  if (values.json) console.log(JSON.stringify({ measured, absent }));
  else console.log([asTable(measured), asBars(measured), ...absent].join('\n'));
  if (values.write) await writePage(measured, absent);
} finally {
  await cleanUp();
}
process.exit(0);

async function cleanUp(): Promise<void> {
  await endProcesses(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function inTime<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = sleep(ms, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${ms / 1_000} s`);
  });
  return await Promise.race([work, late]);
}

async function startAll(
  peers: string,
  names: readonly string[],
): Promise<{ started: Contender[]; absent: string[] }> {
  const servers = Object.fromEntries(
    Array.from({ length: DEFAULTS.servers }, (_, i) => [
      `server${i}`,
      [process.execPath, ECHO, String(DEFAULTS.tools)] as const,
    ]),
  );
  const started: Contender[] = [];
  const absent: string[] = [];
  for (const name of names) {
    say(`starting ${name} …`);
    const home = join(folder, name);
    await mkdir(home);
    try {
      started.push(await inTime(DEFAULTS.startMs, CONTENDERS[name]!({ peers, home, servers })));
    } catch (error) {
      absent.push(`${name} did not start: ${(error as Error).message.slice(0, 300)}`);
      say(absent.at(-1)!);
    }
  }
  return { started, absent };
}

/** Replaces the text between the two marks of the page; people write the rest. */
async function writePage(measured: readonly Measured[], absent: readonly string[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [before, after] = [page.split('<!-- measured -->')[0]!, page.split('<!-- end -->')[1]!];
  const date = new Date().toISOString().slice(0, 10);
  const text = asMarkdown(
    measured,
    absent,
    `${date}, \`npm run compare -- --write\`, Node ${process.versions.node}`,
  );
  await writeFile(PAGE, `${before}<!-- measured -->\n${text}\n<!-- end -->${after}`);
}
