/**
 * The same jobs as an agent does them without PML, with PML by single calls, by code, and with a learned routine: what
 * each costs in tokens of a real tokenizer (o200k). Ten jobs with the reference servers; with `--data DIR` of the bfcl
 * set, twenty of its tasks as well.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { referenceServers } from '../test/support/mcp-reference-servers.ts';
import { servePml } from '../test/support/run-pml.ts';
import type { BenchRow } from './run.ts';
import { referenceJobs, writeOffice } from './support/reference-jobs.ts';
import {
  type Bill,
  findTools,
  type Job,
  type JobCall,
  promptOf,
  ScriptedAgent,
} from './support/scripted-agent.ts';

const DEFAULTS = {
  bfclTasks: 20,
  /** Calls of a task at least: a routine of one call saves nothing. */
  leastCalls: 4,
  /** Milliseconds to wait for all routines to be learned. */
  learnMs: 60_000,
  lookMs: 500,
  /** Routines that the agent reads to find the right one. */
  routines: 3,
};

interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface JobSet {
  readonly name: string;
  readonly servers: Readonly<Record<string, Server>>;
  readonly jobs: readonly Job[];
  /** Before each job in each way. */
  begin(job: Job): Promise<void>;
}

const WAYS = ['direct', 'PML, single calls', 'PML, code', 'PML, learned routine'] as const;
type Way = (typeof WAYS)[number];

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  try {
    const sets = [await referenceSet(join(dir, 'office')), ...(await bfclSets(dir))];
    const reports = [];
    for (const [at, set] of sets.entries()) reports.push(await measure(set, join(dir, `data${at}`)));
    return {
      name: 'tokens',
      rows: reports.flatMap(({ rows }) => rows),
      below: reports.flatMap(({ below }) => below).join('\n'),
    };
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(set: JobSet, data: string) {
  const { jobs } = set;
  const bills = new Map<Way, Bill[]>(WAYS.map((way) => [way, []]));
  const run = async (way: Way, prompt: string, job: Job, work: (agent: ScriptedAgent) => Promise<string>) => {
    await set.begin(job);
    const agent = new ScriptedAgent(prompt, job.intent);
    const result = await work(agent);
    bills.get(way)!.push(agent.bill());
    return result;
  };
  const theirs = await withServers(set, async (direct) => {
    const prompt = (await Promise.all([...direct.values()].map(promptOf))).join('\n');
    for (const job of jobs) await run('direct', prompt, job, (agent) => callDirectly(agent, direct, job));
    return prompt;
  });
  // A gateway for each of the two, as both teach it: calls one by one become routines, too.
  await withGateway(set, `${data}-single`, async (pml) => {
    const prompt = await promptOf(pml);
    for (const job of jobs)
      await run('PML, single calls', prompt, job, (agent) => callSingly(agent, pml, job));
  });
  return await withGateway(set, data, async (pml, program) => {
    const own = await promptOf(pml);
    const results: string[] = [];
    for (const job of jobs) {
      results.push(await run('PML, code', own, job, (agent) => runCode(agent, pml, job)));
      // After a second success it is a routine; the first one is billed.
      await set.begin(job);
      await pml.callTool({ name: 'pml_execute', arguments: { code: job.code, intent: job.intent } });
    }
    const routines = await learned(program, jobs);
    let same = 0;
    for (const [at, job] of jobs.entries()) {
      const routine = routines[at];
      if (!routine) continue;
      const result = await run('PML, learned routine', own, job, (agent) =>
        callRoutine(agent, pml, job, routine),
      );
      if (result === results[at]) same++;
    }
    const counted = jobs.map((_, at) => routines[at] !== undefined);
    return report(set, { own, theirs, bills, counted, same });
  });
}

async function withServers<T>(
  { servers }: JobSet,
  work: (direct: ReadonlyMap<string, Client>) => Promise<T>,
): Promise<T> {
  const direct = new Map<string, Client>();
  try {
    for (const [name, server] of Object.entries(servers)) direct.set(name, await connect(stdioOf(server)));
    return await work(direct);
  } finally {
    for (const client of direct.values()) await client.close();
  }
}

/** `pml` is an agent's client, which reads text; `program` looks up what a model would understand from it. */
async function withGateway<T>(
  { servers }: JobSet,
  data: string,
  work: (pml: Client, program: Client) => Promise<T>,
): Promise<T> {
  const config = { mcpServers: servers, pml: { permissions: { allow: ['*'] } } };
  const gateway = await servePml({ data, config });
  try {
    const requestInit = { headers: { authorization: `Bearer ${gateway.token}` } };
    const over = () => new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit });
    const program = await connect(over());
    // The first search waits until all tools are known.
    await program.callTool({ name: 'pml_search_tools', arguments: { query: 'anything' } });
    return await work(await connect(over(), 'claude-bench'), program);
  } finally {
    await gateway.stop();
  }
}

function stdioOf({ command, args, env }: Server): StdioClientTransport {
  return new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'ignore',
    ...(env && { env: { ...env } }),
  });
}

async function connect(transport: Transport, name = 'bench'): Promise<Client> {
  const client = new Client({ name, version: '1' });
  await client.connect(transport);
  return client;
}

async function callDirectly(agent: ScriptedAgent, direct: ReadonlyMap<string, Client>, { calls }: Job) {
  let result = '';
  for (const { tool, arguments: args } of calls) {
    const [server, name] = tool.split(':') as [string, string];
    result = await agent.call(direct.get(server)!, name, args);
  }
  return result;
}

async function callSingly(agent: ScriptedAgent, pml: Client, job: Job): Promise<string> {
  await findTools(agent, pml, job);
  let result = '';
  for (const { tool, arguments: args } of job.calls)
    result = await agent.call(pml, 'pml_execute', { tool, arguments: args, intent: job.intent });
  return result;
}

async function runCode(agent: ScriptedAgent, pml: Client, job: Job): Promise<string> {
  await findTools(agent, pml, job);
  return await agent.call(pml, 'pml_execute', { code: job.code, intent: job.intent });
}

interface Routine {
  readonly slug: string;
  /** The values of this job. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

async function callRoutine(
  agent: ScriptedAgent,
  pml: Client,
  { intent }: Job,
  routine: Routine,
): Promise<string> {
  await agent.call(pml, 'pml_search_capabilities', { query: intent, limit: DEFAULTS.routines });
  return await agent.call(pml, 'pml_execute', {
    capability: routine.slug,
    arguments: routine.arguments,
    intent,
  });
}

/** The routine of each job, if a search for the wish finds it among the first; undefined where it does not in time. */
async function learned(program: Client, jobs: readonly Job[]): Promise<readonly (Routine | undefined)[]> {
  const until = performance.now() + DEFAULTS.learnMs;
  for (;;) {
    const found: (Routine | undefined)[] = [];
    for (const job of jobs) {
      const args = { query: job.intent, limit: DEFAULTS.routines };
      const { structuredContent } = await program.callTool({
        name: 'pml_search_capabilities',
        arguments: args,
      });
      found.push(routineFor(job, structuredContent as { capabilities: readonly Hit[] }));
    }
    if (found.every((routine) => routine) || performance.now() > until) return found;
    await sleep(DEFAULTS.lookMs);
  }
}

interface Hit {
  readonly slug: string;
  readonly parameters: { readonly properties?: Readonly<Record<string, { readonly default?: unknown }>> };
  readonly tools_used: readonly string[];
}

/** The one with exactly this job's tools and values: a part of the job may be a routine, too. */
function routineFor({ code }: Job, { capabilities }: { capabilities: readonly Hit[] }): Routine | undefined {
  const made = code.matchAll(/mcp\.(\w+)(?:\.(\w+)|\['([\w-]+)'\])/g);
  const own = new Set([...made].map(([, server, name, quoted]) => `${server}:${name ?? quoted}`));
  const fits = capabilities.map(({ slug, parameters, tools_used: tools }) => {
    const values = Object.entries(parameters.properties ?? {}).map(
      ([name, one]) => [name, one.default] as const,
    );
    const calls = tools.filter((tool) => !tool.startsWith('code:'));
    const isOwn =
      calls.length === own.size &&
      calls.every((tool) => own.has(tool)) &&
      values.every(([, value]) => code.includes(String(value)));
    return isOwn ? { slug, arguments: Object.fromEntries(values) } : undefined;
  });
  return fits.find((routine) => routine !== undefined);
}

interface Measured {
  readonly own: string;
  readonly theirs: string;
  readonly bills: ReadonlyMap<Way, readonly Bill[]>;
  /** By job, whether it has a routine: only these are compared. */
  readonly counted: readonly boolean[];
  /** Routines that gave what the code gave. */
  readonly same: number;
}

function report({ name, jobs }: JobSet, { own, theirs, bills, counted, same }: Measured) {
  const sums = new Map(
    WAYS.map((way) => {
      const all = bills.get(way)!;
      return [way, sumOf(all.length === jobs.length ? all.filter((_, at) => counted[at]) : all)];
    }),
  );
  const total = (way: Way) => sums.get(way)!.tokensIn + sums.get(way)!.tokensOut;
  const n = counted.filter(Boolean).length;
  const rows: BenchRow[] = [
    { label: `${name}: read before a job, directly`, value: countTokens(theirs), unit: 'tokens' },
    {
      label: `${name}: five tools and instructions`,
      value: countTokens(own),
      unit: 'tokens',
      goal: '<= 1100 tokens',
    },
    ...WAYS.map((way) => ({
      label: `${name}: a job, ${way}`,
      value: total(way) / n,
      unit: 'tokens',
      ratio: total('PML, single calls') / total(way),
      ...(way === 'PML, learned routine' && { goal: '>= 5x' }),
    })),
  ];
  const lines = WAYS.map((way) => {
    const { requests, calls, tokensIn, tokensOut, bytes } = sums.get(way)!;
    const share = (100 * total(way)) / total('direct');
    const cells = [requests / n, calls / n, tokensIn / n, tokensOut / n, bytes / n].map(digits);
    return `| ${name} | ${way} | ${cells.join(' | ')} | ${digits(share)} % |`;
  });
  const head = [
    '| jobs | way | requests | calls | tokens in | tokens out | bytes | of direct |',
    '|---|---|---:|---:|---:|---:|---:|---:|',
  ];
  const about = `${n} of ${jobs.length} jobs have a routine and are compared; ${same} routines gave what the code gave.`;
  return { rows, below: [...head, ...lines, about, ''] };
}

const digits = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });

function sumOf(bills: readonly Bill[]): Bill {
  const sum = (of: (bill: Bill) => number) => bills.reduce((all, bill) => all + of(bill), 0);
  return {
    requests: sum(({ requests }) => requests),
    calls: sum(({ calls }) => calls),
    tokensIn: sum(({ tokensIn }) => tokensIn),
    tokensOut: sum(({ tokensOut }) => tokensOut),
    bytes: sum(({ bytes }) => bytes),
  };
}

async function referenceSet(folder: string): Promise<JobSet> {
  await writeOffice(folder);
  const servers = referenceServers(folder) as Readonly<Record<string, Server>>;
  return { name: 'reference servers', servers, jobs: referenceJobs(folder), begin: async () => {} };
}

interface BfclTask {
  readonly id: string;
  readonly initial_config: unknown;
  readonly turns: readonly { readonly intent: string; readonly calls: readonly BfclCall[] }[];
}

interface BfclCall extends JobCall {
  readonly links?: readonly {
    readonly at: readonly (string | number)[];
    readonly call: number;
    readonly path: readonly (string | number)[];
  }[];
}

/** Tasks of the Berkeley function-calling leaderboard: one turn after the other is one job. */
async function bfclSets(dir: string): Promise<JobSet[]> {
  const pack = process.env.PML_BENCH_DATA === undefined ? '' : resolve(process.env.PML_BENCH_DATA);
  const file = join(pack, 'tasks.dev.jsonl');
  if (pack === '' || !existsSync(file)) return [];
  const states = join(dir, 'states');
  await mkdir(states);
  const fillIn = (text: string) =>
    text.replaceAll('{python}', 'python3').replaceAll('{pack}', pack).replaceAll('{states}', states);
  const servers = JSON.parse(fillIn(readFileSync(join(pack, 'servers.json'), 'utf8'))) as Record<
    string,
    Server
  >;
  const tasks = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as BfclTask)
    .filter(({ turns }) => turns.flatMap(({ calls }) => calls).length >= DEFAULTS.leastCalls)
    .slice(0, DEFAULTS.bfclTasks);
  const jobs = tasks.map(({ turns }) => ({
    intent: turns.map(({ intent }) => intent).join('\n'),
    calls: turns.flatMap(({ calls }) => calls),
    code: codeOf(turns.map(({ calls }) => calls)),
  }));
  let begun = 0;
  return [
    {
      name: 'bfcl',
      servers,
      jobs,
      // A server starts over when it sees another id.
      async begin(job) {
        const { id, initial_config } = tasks[jobs.indexOf(job as (typeof jobs)[number])]!;
        await writeFile(
          join(states, 'current.json'),
          JSON.stringify({ id: `${id}-${++begun}`, initial_config }),
        );
      },
    },
  ];
}

/** The turns as a program: values that an earlier call of the turn gave are taken from its result. */
function codeOf(turns: readonly (readonly BfclCall[])[]): string {
  const lines = turns.flatMap((calls, turn) =>
    calls.map(({ tool, arguments: args, links = [] }, at) => {
      const [server, name] = tool.split(':');
      let text = JSON.stringify(args);
      for (const link of links) {
        const value = link.at.reduce<unknown>(
          (part, key) => (part as Record<string | number, unknown>)[key],
          args,
        );
        const path = link.path.map((key) => `[${JSON.stringify(key)}]`).join('');
        text = text.replace(JSON.stringify(value), `r${turn}_${link.call}${path}`);
      }
      return `const r${turn}_${at} = await mcp.${server}.${name}(${text});`;
    }),
  );
  const last = `r${turns.length - 1}_${(turns.at(-1)?.length ?? 1) - 1}`;
  return [...lines, `return ${last};`].join('\n');
}
