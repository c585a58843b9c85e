/**
 * Fits the weights with which search fuses its parts, on data sets of tasks with known correct tools:
 *
 *   node scripts/fit-search.ts --data DIR [--cache DIR] [--write]
 *
 * DIR has one folder per data set. A grid search finds the weights that rank the training tasks best (MRR, with equal
 * weight per data set, each point averaged with its neighbours so that no outlier wins): once on all sets (the shipped
 * weights), and once without each set (the weights with which `pml eval` measures it). The weights of a tool's own text
 * come first, then the share of its server beside it. `--write` stores them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { type Gold, mean, rankingFigures, ranksOf } from '../src/core/learning/gate/metrics.ts';
import { linearScores } from '../src/core/learning/optim/listwise-logistic.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { type SearchWeights, serverScores, withServers } from '../src/core/retrieval/text-scores.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { scoreTools } from '../src/engine/catalogue/search.ts';
import { findDataSets, readDataSet } from '../src/evaluation/data-set.ts';
import { openWorkbench } from '../src/evaluation/workbench.ts';

const SEED = 1;
/** Most tasks per set, so that the fit takes minutes. */
const TASKS_PER_SET = 300;
/** Steps from 0 to 1: the data do not support finer ones. */
const STEPS = 20;
/** Shares of the server that are tried; each is averaged with the one before and after it. */
const SERVER_SHARES = range(11).map((step) => step / STEPS);
/** Points are neighbours if they differ by moving at most this many steps from one weight to another. */
const NEIGHBOURHOOD = 2;

interface Example {
  /** Scores by whole query, best clause and words, per tool. */
  readonly features: readonly Float64Array[];
  /** The tools of each server, where that counts. */
  readonly servers: readonly (readonly number[])[];
  readonly gold: Gold;
}

/** Steps of each weight; they sum to STEPS. */
type Point = readonly [whole: number, clause: number, lexical: number];

const GRID = range(STEPS + 1).flatMap((whole) =>
  range(STEPS + 1 - whole).map((clause): Point => [whole, clause, STEPS - whole - clause]),
);

const { values } = parseArgs({
  options: { data: { type: 'string' }, cache: { type: 'string' }, write: { type: 'boolean' } },
});
if (values.data === undefined) {
  console.error('fit-search: name the folder of the data sets with --data');
  process.exit(2);
}

const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));
const examplesBySet = new Map<string, readonly Example[]>();
/** By set, the MRR of each point of the grid. */
const sets = new Map<string, number[]>();
for (const folder of await findDataSets(values.data)) {
  const { name, examples } = await examplesOf(folder);
  examplesBySet.set(name, examples);
  sets.set(
    name,
    GRID.map((point) => mrrOf(examples, point)),
  );
  console.log(`${name}: ${examples.length} tasks`);
}
await embedder.close();

const shipped = weightsFrom([...sets.keys()]);
console.log('all sets'.padEnd(20), show(shipped));
const heldOut = new Map(
  [...sets.keys()].map((name) => [name, weightsFrom([...sets.keys()].filter((each) => each !== name))]),
);
for (const [name, weights] of heldOut) console.log(`without ${name}`.padEnd(20), show(weights));
if (values.write) write(shipped, heldOut);

/** Computed by the serving code. */
async function examplesOf(folder: string): Promise<{ name: string; examples: Example[] }> {
  const all = await readDataSet(folder, { split: 'train', tasks: 'tasks' });
  const sample = createRandom(SEED)
    .shuffle([...all.train])
    .slice(0, TASKS_PER_SET);
  const data = { ...all, train: [], test: sample };
  const emptyIndex = () => new WasmVectorIndex(embedder.dimension);
  const bench = await openWorkbench(data, sample, { embedder, emptyIndex });
  const examples: Example[] = [];
  for (const task of sample) {
    const scores = await scoreTools(bench.index, bench.embeddings, task.intent);
    if (!scores) continue;
    const counts = scores.server.some((score) => !Number.isNaN(score));
    examples.push({
      features: [scores.whole, scores.clause, scores.lexical],
      servers: counts ? bench.index.servers : [],
      gold: bench.goldOf(task),
    });
  }
  return { name: data.name, examples };
}

function mrrOf(examples: readonly Example[], point: Point, share = 0): number {
  const ranks = examples.map(({ features, servers, gold }) => {
    const own = linearScores(features, point);
    return ranksOf(share === 0 ? own : withServers(own, serverScores(own, servers), share), gold);
  });
  return rankingFigures(ranks).mrr;
}

/** The best point for these sets. */
function weightsFrom(names: readonly string[]): SearchWeights {
  const means = GRID.map((_, i) => mean(names.map((name) => sets.get(name)![i]!)));
  const smooth = GRID.map((point) =>
    mean(means.filter((_, i) => distance(point, GRID[i]!) <= NEIGHBOURHOOD)),
  );
  const point = GRID[smooth.indexOf(Math.max(...smooth))]!;
  const [whole, clause, lexical] = point;
  const server = serverShareFor(names, point);
  return { whole: whole / STEPS, clause: clause / STEPS, lexical: lexical / STEPS, server };
}

/** The best share of the server beside these weights. */
function serverShareFor(names: readonly string[], point: Point): number {
  const means = SERVER_SHARES.map((share) =>
    mean(names.map((name) => mrrOf(examplesBySet.get(name)!, point, share))),
  );
  const smooth = means.map((_, i) => mean(means.slice(Math.max(0, i - 1), i + 2)));
  console.log(
    'server',
    point.join('/'),
    SERVER_SHARES.map((share, i) => `${share} ${means[i]!.toFixed(4)}`).join('  '),
  );
  return SERVER_SHARES[smooth.indexOf(Math.max(...smooth))]!;
}

function distance(a: Point, b: Point): number {
  return a.reduce((sum, steps, k) => sum + Math.abs(steps - b[k]!), 0) / 2;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

function show({ whole, clause, lexical, server }: SearchWeights): string {
  return `{ whole: ${whole}, clause: ${clause}, lexical: ${lexical}, server: ${server} }`;
}

function write(all: SearchWeights, without: ReadonlyMap<string, SearchWeights>): void {
  replace('../src/core/retrieval/text-scores.ts', /(SHIPPED_WEIGHTS: SearchWeights = )\{.*?\}/s, show(all));
  const rows = [...without].map(([name, weights]) => `  ${name}: ${show(weights)},\n`).join('');
  replace('../src/evaluation/workbench.ts', /(SearchWeights>> = )\{.*?\};/s, `{\n${rows}};`);
}

function replace(path: string, pattern: RegExp, text: string): void {
  const file = fileURLToPath(new URL(path, import.meta.url));
  const before = readFileSync(file, 'utf8');
  if (!pattern.test(before)) throw new Error(`${file} has no place for the weights`);
  writeFileSync(
    file,
    before.replace(pattern, (_, head: string) => `${head}${text}`),
  );
}
