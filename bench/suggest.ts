/**
 * Cost of suggesting a whole plan, with given intent vectors: 726 tools, past runs of six tools each in 150 kinds of
 * work, nets learned from some of them, a graph of all. Tools and runs are made up.
 */

import { soleGateway } from '../src/adapters/store/open-pglite-store.ts';
import { TypedGraph } from '../src/core/graph/typed-graph.ts';
import { Candidates } from '../src/core/learning/ranker/candidates.ts';
import { Familiarity } from '../src/core/learning/ranker/familiarity.ts';
import { type LearnableRun, rememberRuns } from '../src/core/learning/ranker/learn-ranker.ts';
import { createRankModel } from '../src/core/learning/ranker/rank-model.ts';
import { Ranker } from '../src/core/learning/ranker/ranker.ts';
import { WasmMultiplier } from '../src/core/numeric/kernels.ts';
import { normalise } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { capabilityNode, type ToolId } from '../src/core/vocabulary/ids.ts';
import type { Catalogue } from '../src/engine/catalogue/catalogue.ts';
import { createSearchIndex } from '../src/engine/catalogue/search.ts';
import { createPlanMemory, toolEntries } from '../src/engine/learning/plan-memory.ts';
import { suggest } from '../src/engine/learning/suggest.ts';
import type { Capability, Embedder } from '../src/engine/ports.ts';
import { createMemoryStore } from '../test/memory/store.ts';
import { readyCapability } from '../test/support/samples.ts';
import type { BenchReport } from './run.ts';

const TOOLS = 726;
const KINDS = 150;
const TOOLS_PER_RUN = 6;
const DIMENSION = 384;
/** Runs that nets are learned from, and runs that are remembered when a plan is suggested. */
const LEARNED = 300;
const REMEMBERED = 3_000;
const ROUTINES = 1_000;
const WARM_UP = 20;
const ROUNDS = 200;

const random = createRandom(1);
const unit = () => normalise(Float32Array.from({ length: DIMENSION }, () => random.normal()));
const near = (vector: Float32Array, noise: number) => {
  const other = unit();
  return normalise(vector.map((value, i) => value + noise * other[i]!));
};

export async function bench(): Promise<BenchReport> {
  const kinds = Array.from({ length: KINDS }, unit);
  const catalogue = madeUpCatalogue(kinds);
  const graph = new TypedGraph();
  const work = kinds.map(() => Array.from({ length: TOOLS_PER_RUN }, () => random.int(TOOLS)));
  let runs = Array.from({ length: LEARNED }, (_, i) => madeUpRun(catalogue, kinds, work, i));
  for (const uses of work) {
    for (const [i, place] of uses.slice(1).entries()) {
      const [from, to] = [catalogue.ids[uses[i]!]!, catalogue.ids[place]!];
      const paths = [{ fromPath: 'id', toPath: 'id' }];
      for (const type of ['sequence', 'provides'] as const)
        graph.observe({ from, to, type, calls: 1, paths }, 0);
    }
  }
  const candidates = new Candidates(toolEntries(catalogue), [], DIMENSION);
  const model = createRankModel(new WasmMultiplier(), DIMENSION, random);
  let ranker = new Ranker(candidates, rememberRuns(candidates, runs), model, new Familiarity(-1, -1, 0));
  let given: Float32Array = kinds[0]!;
  const embedder: Embedder = {
    model: 'given',
    dimension: DIMENSION,
    embed: async (texts) => texts.map(() => given),
    close: async () => {},
  };
  const plans = createPlanMemory({
    ports: {
      clock: { now: () => new Date(), monotonic: () => performance.now() },
      sleep: async () => {},
      embedder,
      store: createMemoryStore(),
      trainerLock: soleGateway().trainerLock,
      crypto: { randomUuid: () => 'plans', sha256: (text) => text },
      logger: { log: () => {} },
    },
    runs: () => runs,
    ranker: () => ranker,
    graph: () => graph,
    catalogue: () => catalogue,
  });
  const learning = performance.now();
  await plans.refresh();
  const learnMs = performance.now() - learning;
  runs = Array.from({ length: REMEMBERED }, (_, i) => madeUpRun(catalogue, kinds, work, i));
  ranker = new Ranker(candidates, rememberRuns(candidates, runs), model, new Familiarity(-1, -1, 0));

  const routines = madeUpRoutines(catalogue, work);
  const busy = new TypedGraph();
  for (const edge of graph.edges())
    busy.observe({ ...edge, calls: edge.invocationCount, paths: edge.valuePaths }, 0);
  for (const { id, toolsUsed } of routines)
    for (const to of toolsUsed)
      busy.observe({ from: capabilityNode(id), to, type: 'contains', calls: 1, paths: [] }, 0);
  const times: { readonly without: number[]; readonly having: number[] } = { without: [], having: [] };
  let [tasks, used] = [0, 0];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    given = near(kinds[random.int(KINDS)]!, 0.5);
    const ask = async (known: typeof graph, capabilities: readonly Capability[]) => {
      const start = performance.now();
      const { plan } = await suggest(
        { embedder, catalogue, graph: known, capabilities, plans },
        'find the entry, look into it and tell the others',
      );
      return { plan, ms: performance.now() - start };
    };
    const without = await ask(graph, []);
    const having = await ask(busy, routines);
    if (round >= 0) {
      times.without.push(without.ms);
      times.having.push(having.ms);
    }
    tasks += without.plan.tasks.length;
    used += having.plan.tasks.filter(({ capability }) => capability !== undefined).length;
  }
  for (const all of Object.values(times)) all.sort((a, b) => a - b);
  const at = (all: readonly number[], share: number) => all[Math.ceil(share * ROUNDS) - 1]!;
  const what = `plan from ${TOOLS} tools and ${REMEMBERED.toLocaleString('en')} runs, vectors given`;
  const more = `${what}, and ${ROUTINES.toLocaleString('en')} routines`;
  const median = at(times.without, 0.5);
  return {
    name: 'suggest',
    rows: [
      { label: `${what}, p95`, value: at(times.without, 0.95), unit: 'ms', goal: '<= 30 ms' },
      { label: `${what}, median`, value: median, unit: 'ms' },
      {
        label: `${more}, median`,
        value: at(times.having, 0.5),
        unit: 'ms',
        ratio: at(times.having, 0.5) / median,
        goal: '<= 1.5x',
      },
      {
        label: `${more}, p95`,
        value: at(times.having, 0.95),
        unit: 'ms',
        ratio: at(times.having, 0.95) / at(times.without, 0.95),
        goal: '<= 1.5x',
      },
      { label: 'tasks in a plan', value: tasks / (ROUNDS + WARM_UP), unit: '' },
      { label: 'routines in a plan that may have them', value: used / (ROUNDS + WARM_UP), unit: '' },
      { label: `learning from ${LEARNED} runs`, value: learnMs, unit: 'ms' },
    ],
  };
}

/** Two to five steps in a row of the same kinds of work, as if they had been seen often. */
function madeUpRoutines({ ids }: Catalogue, work: readonly (readonly number[])[]): Capability[] {
  const cuts = [2, 3, 4, 5].flatMap((size) =>
    Array.from({ length: TOOLS_PER_RUN - size + 1 }, (_, first) => [first, first + size] as const),
  );
  return Array.from({ length: ROUTINES }, (_, i): Capability => {
    const [first, end] = cuts[Math.floor(i / KINDS) % cuts.length]!;
    const tools = work[i % KINDS]!.slice(first, end).map((place) => ids[place]! as ToolId);
    const slots = tools.map((tool, k) => ({ parameter: `id_${k}`, argument: { tool, name: 'id' } }));
    return readyCapability(
      {
        slug: `routine_${i}`,
        toolsUsed: [...new Set(tools)],
        template: { source: '', slots },
        uses: 200,
        successes: 200,
        evidence: {
          ...readyCapability({}).evidence,
          part: { key: String(i), tools, wiring: tools.map(() => ({})), support: 200, gain: 100 },
        },
      },
      i,
    );
  });
}

function madeUpCatalogue(kinds: readonly Float32Array[]): Catalogue {
  const vectors = new WasmVectorIndex(DIMENSION);
  const tools = Array.from({ length: TOOLS }, (_, i) => ({
    id: `server${i % 40}:tool_${i}` as ToolId,
    server: `server${i % 40}`,
    name: `tool_${i}`,
    description: `Does the ${i}th thing with an entry`,
    inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    definitionHash: String(i),
  }));
  for (const [i, { id }] of tools.entries()) vectors.set(id, near(kinds[i % KINDS]!, 1));
  const entries = new Map(tools.map((tool) => [tool.id, { tool, proposed: null }]));
  return {
    ...createSearchIndex(tools, vectors),
    entries: [...entries.values()],
    get: (id) => entries.get(id),
    find: (text) => entries.get(text as ToolId)!,
  };
}

function madeUpRun(
  { ids }: Catalogue,
  kinds: readonly Float32Array[],
  work: readonly (readonly number[])[],
  i: number,
): LearnableRun {
  const kind = i % KINDS;
  const intent = near(kinds[kind]!, 0.5);
  return {
    text: `do work ${i}`,
    intent,
    clauses: [intent],
    words: ['do', 'work'],
    uses: work[kind]!.map((place) => ids[place]!),
    succeeded: true,
    key: `${i}`,
  };
}
