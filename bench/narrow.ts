/**
 * Whether what was learned from one kind of work does harm to all else, on a real gateway that offers the tools of a
 * data set: `npm run bench -- narrow --data DIR/SET`. The owner lets every tool run by itself, so that only what a plan
 * rests on can stop it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createRandom } from '../src/core/numeric/random.ts';
import { type DataSet, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { startToolsFixture } from '../test/fixtures/servers/tools-server.ts';
import { type AskedPlan, askFor, searchMrr } from '../test/support/ask-for-work.ts';
import type { BenchReport, BenchRow } from './run.ts';

const PML = fileURLToPath(new URL('../bin/pml.js', import.meta.url));
const SEEDS = [1, 2, 3];
const RUNS = 45;
const ASKED = 40;

export async function bench(): Promise<BenchReport> {
  const folder = process.env.PML_BENCH_DATA;
  if (!folder || !existsSync(join(folder, 'tools.jsonl'))) {
    const below = 'Nothing measured: name the folder of a data set with --data DIR/SET (docs/evaluation.md).';
    return { name: 'narrow', rows: [], below };
  }
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const rows: BenchRow[] = [];
  const rash: string[] = [];
  for (const seed of SEEDS) {
    const { group, before, after, plans, calls } = await measure(data, seed);
    const wrong = plans.filter(({ isWrong, confidence }) => isWrong && confidence > 0.5);
    const row = (label: string, value: number, unit: string, goal?: string) =>
      rows.push({ label: `seed ${seed}, ${label}`, value, unit, ...(goal && { goal }) });
    row('search before', before, 'MRR');
    row('search after', after, 'MRR', `>= ${before - 0.01}`);
    row('plans wrong above .5', wrong.length, `of ${plans.length}`, '<= 1');
    row('longest plan', Math.max(...plans.map(({ does }) => does.length)), 'tasks', '<= 12');
    row('runs started', plans.filter(({ status }) => status !== 'suggestion').length, '', '<= 0');
    row('calls made', calls, '', '<= 0');
    rash.push(`seed ${seed}: ${RUNS} runs of ${group}`);
    for (const { intent, does, confidence } of wrong)
      rash.push(`  ${confidence.toFixed(2)} ${does.join(', ')}: ${intent.slice(0, 100)}`);
  }
  return { name: `narrow, ${data.name}`, rows, below: rash.join('\n') };
}

async function measure(data: DataSet, seed: number) {
  const random = createRandom(seed);
  const groups = [...Map.groupBy(data.train, ({ group }) => group).values()];
  const large = groups.filter(({ length }) => length >= RUNS);
  const enough = large.length > 0 ? large : [groups.reduce((a, b) => (a.length >= b.length ? a : b))];
  const past = random.shuffle(enough[random.int(enough.length)]!).slice(0, RUNS);
  const known = new Set(past.flatMap(({ tools }) => tools));
  const foreign = data.test.filter(({ tools }) => !tools.some((tool) => known.has(tool)));
  const fixture = await startToolsFixture(data.tools);
  const gateway = await serve(fixture.servers);
  try {
    const idOf = new Map<string, string>(data.tools.map((tool) => [tool.id, `${tool.server}:${tool.name}`]));
    const named = (tools: readonly string[]) => tools.map((tool) => idOf.get(tool) ?? tool);
    const questions = random
      .shuffle(foreign)
      .slice(0, ASKED)
      .map(({ intent, tools }) => ({ intent, tools: named(tools) }));
    await gateway.listed(data.tools.length);
    let before = -1;
    // Embedding goes on after the tools are listed: until the figure stays.
    for (let last = -2; before !== last; await sleep(2_000)) {
      last = before;
      before = await searchMrr(gateway.client, questions);
    }
    for (const task of past) await gateway.run(task, named(task.tools));
    await gateway.learned(past.length);
    const calls = fixture.calls.length;
    const plans: AskedPlan[] = [];
    for (const question of questions) plans.push(await askFor(gateway.client, question, () => 'any'));
    const after = await searchMrr(gateway.client, questions);
    return { group: past[0]!.group, before, after, plans, calls: fixture.calls.length - calls };
  } finally {
    await gateway.stop();
    await fixture.close();
  }
}

async function serve(mcpServers: Readonly<Record<string, object>>) {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const config = join(dir, 'pml.json');
  const permissions = { allow: ['*'], auto: ['*'] };
  await writeFile(config, JSON.stringify({ mcpServers, pml: { permissions } }));
  const args = [PML, 'serve', '--port', '0', '--data', join(dir, 'data'), '--config', config, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const { url } = JSON.parse(String(line)) as { url: string };
  const token = (await readFile(join(dir, 'data', 'token'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  const get = async (path: string) =>
    (await (await fetch(new URL(path, url), { headers })).json()) as Record<string, unknown>;
  return {
    client,
    async listed(tools: number) {
      while (Number((await get('/api/stats')).tools) < tools) await sleep(200);
    },
    /** Until it is known and nothing is being learned from it any more. */
    async learned(runs: number) {
      for (;;) {
        const told = await get('/api/learning');
        if (Number(told.runs) >= runs && told.model && !told.training) return await sleep(5_000);
        await sleep(200);
      }
    },
    async run({ intent }: Task, tools: readonly string[]) {
      const tasks = tools.map((tool, i) => ({
        id: `t${i}`,
        tool,
        arguments: {},
        depends_on: i === 0 ? [] : [`t${i - 1}`],
      }));
      const body = JSON.stringify({ workflow: { tasks }, intent });
      const answer = await fetch(new URL('/api/workflows', url), { method: 'POST', headers, body });
      const { status } = (await answer.json()) as { status: string };
      if (status !== 'success') throw new Error(`"${intent}" ended with ${status}`);
    },
    async stop() {
      await client.close();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
