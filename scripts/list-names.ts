/**
 * `node scripts/list-names.ts DIR [--count N] [--seed N]`: what PML calls the routines it learns from public data sets,
 * as a Markdown table with the jobs beside them. Each recurring job is run three times, in other words each time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/core/numeric/random.ts';
import { deriveTrace } from '../src/core/tracing/derive-trace.ts';
import type { ToolId } from '../src/core/vocabulary/ids.ts';
import { oneLine } from '../src/core/vocabulary/text.ts';
import { openCapabilityRegistry } from '../src/engine/capabilities/capability-registry.ts';
import { learnCapability } from '../src/engine/capabilities/learn-capability.ts';
import type { CatalogueEntry } from '../src/engine/catalogue/catalogue.ts';
import { createProgramCache } from '../src/engine/code/program.ts';
import { createEventLog } from '../src/engine/traces/event-log.ts';
import { findDataSets, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { createMemoryStore } from '../test/memory/store.ts';
import { sampleTrace } from '../test/support/samples.ts';

const DEFAULTS = {
  count: '60',
  seed: '1',
  /** Runs of each job, and the most words an intent may have: longer ones say many things at once. */
  runs: 3,
  words: 60,
  /** Of an intent that are shown. */
  characters: 200,
};

/** A job, and what it came to be called. */
export interface LearnedName {
  readonly set: string;
  readonly slug: string;
  readonly intents: readonly string[];
  readonly tools: readonly string[];
}

export async function learnNames(folder: string, count: number, seed: number): Promise<LearnedName[]> {
  const folders = await findDataSets(folder);
  const sets = await Promise.all(folders.map((path) => readDataSet(path, { split: 'dev', tasks: 'tasks' })));
  const recurring = sets.filter(({ train }) => recurringJobs(train).length > 0);
  const perSet = Math.ceil(count / recurring.length);
  const names: LearnedName[] = [];
  for (const { name, tools, train } of recurring) {
    const entries = new Map(
      tools.map((tool): [ToolId, CatalogueEntry] => {
        const id = nodeOf(tool.server, tool.name);
        return [id, { tool: { ...tool, id }, proposed: null }];
      }),
    );
    const nodes = new Map(tools.map(({ id, server, name: own }) => [id as string, nodeOf(server, own)]));
    const chosen = createRandom(seed).shuffle(recurringJobs(train)).slice(0, perSet);
    const registry = await openCapabilityRegistry({
      store: createMemoryStore(),
      events: createEventLog({ now: () => new Date(0), monotonic: () => 0 }),
    });
    for (const job of chosen) {
      const before = new Set(registry.all().map(({ id }) => id));
      for (const task of job) await run(task, nodes, registry, entries);
      const learned = registry.all().find(({ id }) => !before.has(id));
      if (learned)
        names.push({
          set: name,
          slug: learned.slug,
          intents: job.map(({ intent }) => intent),
          tools: job[0]!.tools.map((tool) => nodes.get(tool) ?? tool),
        });
    }
  }
  return names.slice(0, count);
}

/** The same tools in the same order, asked for in several ways. */
function recurringJobs(tasks: readonly Task[]): Task[][] {
  const fit = tasks.filter(
    ({ intent, tools }) => new Set(tools).size > 1 && intent.split(/\s+/).length <= DEFAULTS.words,
  );
  return [...Map.groupBy(fit, ({ tools }) => tools.join(' ')).values()]
    .filter((group) => group.length >= 2)
    .map((group) => group.slice(0, DEFAULTS.runs));
}

type Registry = Awaited<ReturnType<typeof openCapabilityRegistry>>;

async function run(
  task: Task,
  nodes: ReadonlyMap<string, ToolId>,
  registry: Registry,
  entries: ReadonlyMap<ToolId, CatalogueEntry>,
): Promise<void> {
  const called = [...new Set(task.tools)].flatMap((tool) => nodes.get(tool) ?? []);
  const places = new Map([...new Set(task.tools)].map((tool, i) => [tool, i]));
  const lines = [...places].map(([tool, i]) => {
    const given = task.edges
      .filter(([, to]) => to === tool)
      .map(([from]) => `from${places.get(from)}: r${places.get(from)}`);
    const [server, name] = split(nodes.get(tool)!);
    return `const r${i} = await mcp[${JSON.stringify(server)}][${JSON.stringify(name)}]({ ${given.join(', ')} });`;
  });
  const events = called.flatMap((node, i) => [
    { type: 'tool_start' as const, traceId: `c${i}`, parentTraceId: null, node, ts: 2 * i },
    {
      type: 'tool_end' as const,
      traceId: `c${i}`,
      parentTraceId: null,
      node,
      ts: 2 * i + 1,
      success: true,
      durationMs: 1,
    },
  ]);
  const trace = sampleTrace({
    intentText: task.intent,
    success: true,
    code: `${lines.join('\n')}\nreturn r${places.size - 1};`,
    taskResults: [{ id: 'code', status: 'success', result: { done: true } }],
    events,
    ...deriveTrace(events),
    errorMessage: null,
    errorType: null,
    visibility: 'shared',
  });
  const catalogue = { get: (id: ToolId) => entries.get(id) };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  await learnCapability(
    {
      ports: { crypto: { sha256, randomUuid: randomUUID }, clock: { now: () => new Date(0) } },
      capabilities: registry,
      programs: createProgramCache(),
      catalogue: () => catalogue,
      background: { run: () => {} },
      // Nothing was called, so that there is nothing to prove it on.
      prove: async () => UNPROVEN,
      run: () => Promise.reject(new Error('nothing is replayed')),
    } as unknown as Parameters<typeof learnCapability>[0],
    trace,
  );
}

const UNPROVEN = {
  ...{ codeHash: '', cases: [], failure: null, provenAt: '' },
  effects: { tools: [], writes: [], hosts: [] },
};

function nodeOf(server: string, name: string): ToolId {
  return `${server}:${name}` as ToolId;
}

function split(node: ToolId): [string, string] {
  const at = node.indexOf(':');
  return [node.slice(0, at), node.slice(at + 1)];
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: DEFAULTS.count },
      seed: { type: 'string', default: DEFAULTS.seed },
    },
  });
  const names = await learnNames(positionals[0] ?? '.', Number(values.count), Number(values.seed));
  console.log('| name | one of the wordings it was learned from | last tool | set |\n|---|---|---|---|');
  for (const { slug, intents, tools, set } of names) {
    const intent = oneLine(intents[0], DEFAULTS.characters).replaceAll('|', '/');
    console.log(`| \`${slug}\` | ${intent} | \`${tools.at(-1)}\` | ${set} |`);
  }
}
