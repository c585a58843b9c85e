/**
 * `npm run compare [-- --only pml,mcp-hub] [--peers DIR] [--json] [--write]`: the same work through PML and through what
 * a user would pick instead, in one run and in turns, so that a noisy moment of the machine hits all.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { percentile } from '../support/percentile.ts';
import type { Contender } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { installPeers } from './peers.ts';
import { residentBytes } from './resident-bytes.ts';
import { asBars, asMarkdown, asTable, type Measured } from './tell-comparison.ts';

const ECHO = fileURLToPath(new URL('../support/echo-server.ts', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/compare.md', import.meta.url));

const DEFAULTS = {
  servers: 5,
  /** Of each server, beside the one that is called. */
  tools: 20,
  calls: 400,
  warmUp: 30,
  inFlight: 32,
  callsInFlight: 1_500,
  programs: 30,
  callsFromCode: 1_000,
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
try {
  const peers = values.peers ? resolve(values.peers) : join(folder, 'peers');
  if (!values.peers) {
    say('installing the peers …');
    await mkdir(peers);
    await installPeers(peers);
  }
  const { started, absent } = await startAll(peers, values.only?.split(',') ?? Object.keys(CONTENDERS));
  const measured = await measure(started);
  for (const contender of started) await contender.stop();
  if (values.json) console.log(JSON.stringify({ measured, absent }));
  else console.log([asTable(measured), asBars(measured), ...absent].join('\n'));
  if (values.write) await writePage(measured, absent);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(0);

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
      started.push(await CONTENDERS[name]!({ peers, home, servers }));
    } catch (error) {
      absent.push(`${name} did not start: ${(error as Error).message.slice(0, 300)}`);
      say(absent.at(-1)!);
    }
  }
  return { started, absent };
}

async function measure(contenders: readonly Contender[]): Promise<Measured[]> {
  const calls = contenders.map((): number[] => []);
  say('calls in turn …');
  for (let round = -DEFAULTS.warmUp; round < DEFAULTS.calls; round++) {
    for (const [i, contender] of contenders.entries()) {
      const took = await timed(() => contender.call());
      if (round >= 0) calls[i]!.push(took);
    }
  }
  say('programs in turn …');
  const programs = contenders.map((): number[] => []);
  for (let round = -3; round < DEFAULTS.programs; round++) {
    for (const [i, { code }] of contenders.entries()) {
      if (!code) continue;
      const took = await timed(() => code.callTimes(0));
      if (round >= 0) programs[i]!.push(took);
    }
  }
  const measured: Measured[] = [];
  for (const [i, contender] of contenders.entries()) {
    say(`${contender.name}: many at once, and from code …`);
    const { name, version, form, servers, startMs, listBytes, code } = contender;
    const perSecond = await throughput(contender);
    const fromCode = code && (await timed(() => checkedCalls(contender, DEFAULTS.callsFromCode)));
    measured.push({
      ...{ name, version, form, servers, startMs, listBytes },
      p50: percentile(calls[i]!, 0.5),
      p99: percentile(calls[i]!, 0.99),
      perSecond,
      megabytes: contender.pid === 0 ? undefined : residentBytes(contender.pid, ECHO) / 2 ** 20,
      program: code && percentile(programs[i]!, 0.5),
      fromCode,
    });
  }
  return measured;
}

async function checkedCalls({ name, code }: Contender, times: number): Promise<void> {
  const made = await code!.callTimes(times);
  if (made !== times) throw new Error(`${name} made ${made} calls of ${times}`);
}

async function throughput({ call }: Contender): Promise<number> {
  let left = DEFAULTS.callsInFlight;
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: DEFAULTS.inFlight }, async () => {
        while (left-- > 0) await call();
      }),
    ),
  );
  return DEFAULTS.callsInFlight / (took / 1_000);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Between the two marks of the page; the words around them are written by people. */
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
