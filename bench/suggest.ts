/**
 * What it costs to suggest a whole plan, with the intent's vectors given: 726 tools, past runs of six tools
 * each in 150 kinds of work, nets learned from some of them, a graph of all. Tools and runs are made up.
 */
import { WasmVectorIndex } from '../src/adapters/embedding/wasm-vector-index.ts';
import { soleGateway } from '../src/adapters/store/team/sole-gateway.ts';
import { TypedGraph } from '../src/core/graph/typed-graph.ts';
import { Candidates } from '../src/core/learning/ranker/candidates.ts';
import { Familiarity } from '../src/core/learning/ranker/familiarity.ts';
import { type LearnableRun, rememberRuns } from '../src/core/learning/ranker/learn-ranker.ts';
import { createRankModel } from '../src/core/learning/ranker/rank-model.ts';
import { Ranker } from '../src/core/learning/ranker/ranker.ts';
import { WasmMultiplier } from '../src/core/numeric/kernels.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { normalise } from '../src/core/numeric/vectors.ts';
import type { ToolId } from '../src/core/vocabulary/ids.ts';
import type { Catalogue } from '../src/engine/catalogue/catalogue.ts';
import { createSearchIndex } from '../src/engine/catalogue/catalogue.ts';
import { createPlanMemory } from '../src/engine/learning/plan-memory.ts';
import { toolEntries } from '../src/engine/learning/ranked-candidates.ts';
import { suggest } from '../src/engine/learning/suggest.ts';
import type { Embedder } from '../src/engine/ports.ts';
import { createMemoryStore } from '../test/memory/store.ts';
import type { BenchReport } from './run.ts';

const TOOLS = 726;
const KINDS = 150;
const TOOLS_PER_RUN = 6;
const DIMENSION = 384;
/** Runs that nets are learned from, and runs that are looked back on when a plan is suggested. */
const LEARNED = 300;
const REMEMBERED = 3_000;
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

  const times: number[] = [];
  let tasks = 0;
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    given = near(kinds[random.int(KINDS)]!, 0.5);
    const start = performance.now();
    const { plan } = await suggest(
      { embedder, catalogue, graph, capabilities: [], plans },
      'find the entry, look into it and tell the others',
    );
    if (round >= 0) times.push(performance.now() - start);
    tasks += plan.tasks.length;
  }
  times.sort((a, b) => a - b);
  const what = `plan from ${TOOLS} tools and ${REMEMBERED.toLocaleString('en')} runs, vectors given`;
  return {
    name: 'suggest',
    rows: [
      { label: `${what}, p95`, value: times[Math.ceil(0.95 * ROUNDS) - 1]!, unit: 'ms', goal: '<= 30 ms' },
      { label: `${what}, median`, value: times[ROUNDS / 2]!, unit: 'ms' },
      { label: 'tasks in a plan', value: tasks / (ROUNDS + WARM_UP), unit: '' },
      { label: `learning from ${LEARNED} runs`, value: learnMs, unit: 'ms' },
    ],
  };
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
