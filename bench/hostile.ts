/**
 * Whether the gateway keeps answering under hostile texts at every entry point: how long `/healthz` takes, measured
 * from another process, and how long the gateway takes to stop, then and after a restart on the same data.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { traceToWire } from '../src/core/vocabulary/execution-trace.ts';
import { FLOOD, FLOOD_TOOLS, HOSTILE_CODES, HOSTILE_TEXTS } from '../test/support/hostile-texts.ts';
import { takePulse } from '../test/support/pulse.ts';
import { type RunningPml, runPml, servePml } from '../test/support/run-pml.ts';
import { sampleTrace } from '../test/support/samples.ts';
import { percentile } from './support/percentile.ts';
import { watchHealth } from './support/watch-health.ts';

const DEFAULTS = { quietMs: 5_000, atOnce: 4 };

type Ask = (path: string, body?: unknown) => Promise<unknown>;
type Entrance = (dir: string, ask: Ask) => (() => Promise<unknown>)[];

const flood = { command: process.execPath, args: [FLOOD] };
const configOf = (pml: object) => JSON.stringify({ mcpServers: { flood }, pml });
const GLOBS = configOf({ permissions: { ask: [`flood:${'*a'.repeat(60)}`], default: 'allow' } });

const ENTRANCES: Readonly<Record<string, Entrance>> = {
  'tool definitions': (dir) => [() => runPml(['servers', 'restart', 'flood', '--data', dir])],
  'tool results': (_, ask) =>
    [...FLOOD_TOOLS.sound, ...FLOOD_TOOLS.unsound].map(
      (tool) => () => ask('/api/execute', { tool: `flood:${tool}` }),
    ),
  code: (_, ask) => HOSTILE_CODES.map((code) => () => ask('/api/execute', { code })),
  intents: (_, ask) => HOSTILE_TEXTS.map((intent) => () => ask('/api/execute', { tool: 'flood:ok', intent })),
  suggestions: (_, ask) => HOSTILE_TEXTS.map((intent) => () => ask('/api/suggest', { intent })),
  search: (_, ask) =>
    HOSTILE_TEXTS.map((text) => () => ask(`/api/search?q=${encodeURIComponent(text).slice(0, 14_000)}`)),
  'trace import': (dir) => [
    async () => {
      const trace = traceToWire(sampleTrace());
      const lines = HOSTILE_TEXTS.map((text) =>
        JSON.stringify({ ...trace, id: randomUUID(), intent_text: text }),
      );
      const file = join(dir, 'traces.jsonl');
      await writeFile(file, [...lines, `{"id":${'['.repeat(100_000)}`].join('\n'));
      await runPml(['trace', 'import', file, '--data', dir]);
    },
  ],
  config: (dir) => [
    async () => {
      for (const text of [
        configOf({ record: { [HOSTILE_TEXTS[0]!]: 'full' } }),
        '['.repeat(100_000),
        GLOBS,
      ]) {
        await writeFile(join(dir, 'pml.json'), text);
        await sleep(500);
      }
    },
  ],
};

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  try {
    await writeFile(join(dir, 'pml.json'), GLOBS);
    const load = loadavg();
    const { pml, url, ask } = await begin(dir);
    await ask('/api/execute', { tool: 'flood:ok' });
    const quiet = await watched(url, () => sleep(DEFAULTS.quietMs));
    const seen = new Map<string, number[]>(Object.keys(ENTRANCES).map((name) => [name, []]));
    const { pid } = JSON.parse(await readFile(join(dir, 'holder.json'), 'utf8'));
    const pulse = takePulse(url, pid);
    const last = performance.now() + Number(process.env.PML_BENCH_MINUTES ?? 0) * 60_000;
    do {
      for (const [name, entrance] of Object.entries(ENTRANCES)) {
        const beats = await watched(url, () => inTurn(entrance(dir, ask)));
        seen.get(name)!.push(...beats);
      }
    } while (performance.now() < last);
    const longest = await pulse.end();
    const endMs = await endOf(pml);
    const again = await begin(dir);
    await again.ask('/api/suggest', { intent: 'try marks' });
    const endAgainMs = await endOf(again.pml);
    const all = [...seen.values()].flat();
    const goals = { p99: '<= 250 ms', max: '<= 1000 ms' };
    return {
      name: 'hostile',
      rows: [
        ...figures('/healthz, quiet', quiet),
        ...figures('/healthz, hostile texts at every entrance', all, goals),
        ...[...seen].map(([name, beats]) => ({
          label: `  ${name}: max`,
          value: Math.max(...beats),
          unit: 'ms',
        })),
        {
          label: '  longest, in time that the main thread of the gateway ran',
          value: longest,
          unit: 'ms',
          goal: '<= 1000 ms',
        },
        { label: 'SIGTERM to end', value: endMs, unit: 'ms', goal: '<= 20000 ms' },
        { label: 'SIGTERM to end, after a restart', value: endAgainMs, unit: 'ms', goal: '<= 20000 ms' },
      ],
      below: `${all.length} answers; load of the machine ${load.map((value) => value.toFixed(1)).join(', ')} before it`,
    };
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function begin(dir: string) {
  const pml = await servePml({ data: dir });
  const { url, token } = pml;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask: Ask = async (path, body) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return await (await fetch(`${url}${path}`, { headers, ...sent })).text();
  };
  return { pml, url, ask };
}

async function watched(url: string, work: () => Promise<unknown>): Promise<readonly number[]> {
  const health = await watchHealth(url);
  await work();
  return await health.end();
}

/** Runs a few at once, as agents do. */
async function inTurn(tasks: (() => Promise<unknown>)[]): Promise<void> {
  const work = async () => {
    for (let task = tasks.shift(); task; task = tasks.shift()) await task();
  };
  await Promise.all(Array.from({ length: DEFAULTS.atOnce }, work));
}

async function endOf({ child, exited }: RunningPml): Promise<number> {
  const start = performance.now();
  child.kill('SIGTERM');
  const code = await exited;
  if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  return performance.now() - start;
}

function figures(label: string, times: readonly number[], goals: { p99?: string; max?: string } = {}) {
  const { p99, max } = goals;
  return [
    { label: `${label}: p50`, value: percentile(times, 0.5), unit: 'ms' },
    {
      label: `${label}: p99`,
      value: percentile(times, 0.99),
      unit: 'ms',
      ...(p99 !== undefined && { goal: p99 }),
    },
    {
      label: `${label}: max`,
      value: Math.max(...times),
      unit: 'ms',
      ...(max !== undefined && { goal: max }),
    },
  ];
}
