import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mean } from '../src/core/learning/gate/metrics.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { type DataSet, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { startToolsFixture } from '../test/fixtures/servers/tools-server.ts';
import { type AskedPlan, askFor, type Question, reciprocalRanks } from '../test/support/ask-for-work.ts';
import { servePml } from '../test/support/run-pml.ts';
import type { BenchReport, BenchRow } from './run.ts';

const DEFAULTS = {
  seeds: [1, 2, 3],
  runs: 45,
  asked: 40,
  /** Time limit for plans after everything else was learned; so few runs may give none, and nothing reports that. */
  plansMs: 60_000,
};

export async function bench(): Promise<BenchReport> {
  const folder = process.env.PML_BENCH_DATA;
  if (!folder || !existsSync(join(folder, 'tools.jsonl'))) {
    const below = 'Nothing measured: name the folder of a data set with --data DIR/SET (docs/evaluation.md).';
    return { name: 'narrow', rows: [], below };
  }
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const rows: BenchRow[] = [];
  const told: string[] = [];
  const seeds = process.env.PML_SEED === undefined ? DEFAULTS.seeds : [Number(process.env.PML_SEED)];
  for (const seed of seeds) {
    const { group, before, after, moved, plans, calls, own, isOpen } = await measure(data, seed);
    const wrong = plans.filter(({ isWrong, confidence }) => isWrong && confidence > 0.5);
    const row = (label: string, value: number, unit: string, goal?: string) =>
      rows.push({ label: `seed ${seed}, ${label}`, value, unit, ...(goal && { goal }) });
    row('search before', before, 'MRR');
    row('search after', after, 'MRR', `>= ${before - 0.01}`);
    row('plans wrong above .5', wrong.length, `of ${plans.length}`, '<= 1');
    row('longest plan', Math.max(...plans.map(({ does }) => does.length)), 'tasks', '<= 12');
    row('runs started', plans.filter(({ status }) => status !== 'suggestion').length, '', '<= 0');
    row('calls made', calls, '', '<= 0');
    told.push(`seed ${seed}: ${DEFAULTS.runs} runs of ${group}; the ranker ${isOpen ? 'serves' : 'waits'}`);
    told.push(`  asked for again: ${planLine(own)}`);
    for (const line of moved) told.push(`  rank ${line}`);
    for (const plan of wrong) told.push(`  wrong: ${planLine(plan)}`);
  }
  return { name: `narrow, ${data.name}`, rows, below: told.join('\n') };
}

const rank = (reciprocal: number) => (reciprocal === 0 ? 'none' : String(Math.round(1 / reciprocal)));

const planLine = ({ confidence, does, intent }: AskedPlan) =>
  `${confidence.toFixed(2)} ${does.join(', ')}: ${intent.slice(0, 100)}`;

async function measure(data: DataSet, seed: number) {
  const startedAt = performance.now();
  const tell = (what: string) =>
    console.error(`seed ${seed}, ${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${what}`);
  const random = createRandom(seed);
  const past = narrowPast(data, random);
  const known = new Set(past.flatMap(({ tools }) => tools));
  const foreign = data.test.filter(({ tools }) => !tools.some((tool) => known.has(tool)));
  const idOf = new Map<string, string>(data.tools.map((tool) => [tool.id, `${tool.server}:${tool.name}`]));
  const named = ({ intent, tools }: Task): Question => ({
    intent,
    tools: tools.map((tool) => idOf.get(tool) ?? tool),
  });
  const questions = random.shuffle(foreign).slice(0, DEFAULTS.asked).map(named);
  const fixture = await startToolsFixture(data.tools);
  const gateway = await serve(fixture.servers);
  const argumentsFor = new Map(
    data.tools.map((tool) => [idOf.get(tool.id)!, anyArguments(tool.inputSchema)]),
  );
  try {
    await gateway.embedded(data.tools.length);
    tell(`${data.tools.length} tools`);
    const before = await reciprocalRanks(gateway.client, questions);
    tell(`search ${mean(before).toFixed(3)}`);
    for (const task of past) await gateway.run(named(task), argumentsFor);
    tell(`${past.length} runs`);
    const isOpen = await gateway.learned(past.length);
    const ownPlan = () => askFor(gateway.client, named(past[0]!), () => 'any');
    // Plans are only learned when somebody asks for one.
    const until = performance.now() + DEFAULTS.plansMs;
    for (; !gateway.hasPlans() && performance.now() < until; await sleep(1_000)) await ownPlan();
    const own = await ownPlan();
    tell(gateway.hasPlans() ? 'learned' : 'learned, but no plans');
    const calls = fixture.calls.length;
    const plans: AskedPlan[] = [];
    for (const question of questions) plans.push(await askFor(gateway.client, question, () => 'any'));
    const after = await reciprocalRanks(gateway.client, questions);
    tell(`search ${mean(after).toFixed(3)} afterwards`);
    const moved = questions.flatMap(({ intent, tools }, i) =>
      before[i] === after[i]
        ? []
        : [`${rank(before[i]!)} to ${rank(after[i]!)}, ${tools.join(', ')}: ${intent.slice(0, 100)}`],
    );
    const [mrrBefore, mrrAfter] = [mean(before), mean(after)];
    const made = fixture.calls.length - calls;
    return {
      group: past[0]!.group,
      before: mrrBefore,
      after: mrrAfter,
      moved,
      plans,
      calls: made,
      own,
      isOpen,
    };
  } finally {
    await gateway.stop();
    await fixture.close();
  }
}

/** Random runs of one group; if none has enough tasks, the same ones are repeated. */
function narrowPast({ train }: DataSet, random: Random): Task[] {
  const groups = [...Map.groupBy(train, ({ group }) => group).values()];
  const most = Math.max(...groups.map(({ length }) => length));
  const large = groups.filter(({ length }) => length >= Math.min(DEFAULTS.runs, most));
  const tasks = random.shuffle(large[random.int(large.length)]!);
  return Array.from({ length: DEFAULTS.runs }, (_, i) => tasks[i % tasks.length]!);
}

/** A valid value for every parameter; their meaning does not matter here. */
function anyArguments(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string; enum?: unknown[] }> };
  const anyOf = (type = 'string') => ANY[type] ?? 'any';
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, enum: allowed }]) => [name, allowed?.[0] ?? anyOf(type)]),
  );
}

const ANY: Readonly<Record<string, unknown>> = {
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
  null: null,
};

async function serve(mcpServers: Readonly<Record<string, object>>) {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const pml = await servePml({
    data: join(dir, 'data'),
    config: { mcpServers, pml: { permissions: { allow: ['*'], auto: ['*'] } } },
    env: { PML_LOG: 'info' },
  });
  createInterface({ input: pml.child.stderr! }).on('line', (line) => {
    if (line.includes('"level":"error"')) console.error(line);
  });
  const { url, token } = pml;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let byMeaning = 0;
  const gone = new AbortController();
  const { body: events } = await fetch(new URL('/api/events', url), { headers, signal: gone.signal });
  const told = createInterface({ input: Readable.fromWeb(events as ReadableStream) });
  // The connection is cut off at the end.
  told.on('error', () => {});
  told.on('line', (line) => {
    const [, count] = /"by_meaning":(\d+)/.exec(line) ?? [];
    if (count !== undefined) byMeaning = Number(count);
  });
  const client = new Client({ name: 'bench', version: '1' }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  const get = async (path: string) =>
    (await (await fetch(new URL(path, url), { headers })).json()) as Record<string, unknown>;
  return {
    client,
    /** Waits until this many tools are embedded. */
    async embedded(tools: number) {
      while (byMeaning < tools) await sleep(500);
    },
    hasPlans: () => pml.output().stderr.includes('"Learned plans"'),
    /** Waits until nothing more is being learned; returns whether the ranker may serve. */
    async learned(runs: number): Promise<boolean> {
      const isSettled = ({ runs: seen, model, training }: Record<string, unknown>) =>
        Number(seen) >= runs && model !== null && training === null;
      let told = await get('/api/learning');
      for (; !isSettled(told); told = await get('/api/learning')) await sleep(1_000);
      return (told.gate as { open: boolean }).open;
    },
    async run({ intent, tools }: Question, argumentsFor: ReadonlyMap<string, object>) {
      const tasks = tools.map((tool, i) => ({
        id: `t${i}`,
        tool,
        arguments: argumentsFor.get(tool) ?? {},
        depends_on: i === 0 ? [] : [`t${i - 1}`],
      }));
      const body = JSON.stringify({ workflow: { tasks }, intent });
      const answer = await fetch(new URL('/api/workflows', url), { method: 'POST', headers, body });
      const told = (await answer.json()) as { status?: string };
      if (told.status !== 'success') throw new Error(`"${intent}": ${JSON.stringify(told).slice(0, 500)}`);
    },
    async stop() {
      gone.abort();
      await client.close();
      await pml.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
