/**
 * Where a cosine of one embedding model lies for another: what the thresholds of PML become when its model changes.
 *
 *   node scripts/map-cosines.ts --data DIR --cache DIR --from MODEL --to MODEL
 *
 * `--data` has one folder per data set, `--cache` one folder of vectors per model, as `pml eval` writes them for both;
 * tasks that either lacks are left out. Prints, for cosines of three kinds of pairs, the cosine that the same share of
 * pairs reaches with the other model, as the mean over the sets and as the least and greatest without one of them.
 */
import { parseArgs } from 'node:util';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { mean } from '../src/core/learning/gate/metrics.ts';
import { dot } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { toolText } from '../src/core/retrieval/words.ts';
import { type DataSet, findDataSets, readDataSet } from '../src/evaluation/data-set.ts';

const SEED = 1;
/** Most intents and most tools per set. */
const SAMPLE = 700;
/** A set has a say about a cosine if at least this many pairs lie on either side of it. */
const LEAST_PAIRS = 20;
const COSINES = [0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/** Cosines of the same pairs with both models. */
type Pairs = readonly (readonly [from: number, to: number])[];

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    cache: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
  },
});
const { data, cache, from, to } = values;
if (data === undefined || cache === undefined || from === undefined || to === undefined) {
  console.error('map-cosines: --data, --cache, --from and --to are needed');
  process.exit(2);
}

const models = [from, to].map((model) => new StoredEmbedder(cachedOnly(model), cache));

/** By kind of pairs and set. */
const kinds = new Map<string, Map<string, Pairs>>();
for (const folder of await findDataSets(data)) {
  const set = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  for (const [kind, pairs] of Object.entries(await pairsOf(set))) {
    const sets = kinds.get(kind) ?? new Map<string, Pairs>();
    kinds.set(kind, sets.set(set.name, pairs));
  }
}

for (const [kind, sets] of kinds) {
  console.log(`\n${kind}: ${[...sets].map(([name, pairs]) => `${name} ${pairs.length}`).join(', ')}`);
  for (const cosine of COSINES) {
    const mapped = [...sets.values()].flatMap((pairs) => moved(pairs, cosine) ?? []);
    if (mapped.length === 0) continue;
    const without = mapped.map((_, left) => mean(mapped.filter((_each, i) => i !== left)));
    const [least, most] = mapped.length < 2 ? mapped : [Math.min(...without), Math.max(...without)];
    const shown = [mean(mapped), least!, most ?? least!].map((each) => each.toFixed(3));
    console.log(`${cosine.toFixed(2)} -> ${shown[0]} [${shown[1]}, ${shown[2]}], ${mapped.length} sets`);
  }
}

async function pairsOf(set: DataSet): Promise<Record<string, Pairs>> {
  const random = createRandom(SEED);
  const tasks = await cachedOf(random.shuffle([...set.train]), ({ intent }) => intent.trim());
  const tools = await cachedOf(random.shuffle([...set.tools]), toolText);
  return {
    'intents of any tasks': pairs(tasks, tasks).map(({ cosines }) => cosines),
    'intents of the same work, the nearest': nearest(tasks),
    tools: pairs(tools, tools).map(({ cosines }) => cosines),
  };
}

interface Embedded<T> {
  readonly item: T;
  /** By model. */
  readonly vectors: readonly Float32Array[];
}

async function cachedOf<T>(items: readonly T[], textOf: (item: T) => string): Promise<Embedded<T>[]> {
  const found: Embedded<T>[] = [];
  for (const item of items) {
    if (found.length === SAMPLE) break;
    const vectors = await Promise.all(models.map((model) => model.embed([textOf(item)]).catch(() => [])));
    if (vectors.every(([vector]) => vector))
      found.push({ item, vectors: vectors.map(([vector]) => vector!) });
  }
  return found;
}

function pairs<T>(ones: readonly Embedded<T>[], others: readonly Embedded<T>[]) {
  return ones.flatMap((a, i) => others.slice(i + 1).map((b) => ({ a, b, cosines: cosinesOf(a, b) })));
}

/** Of each task with the nearest one of its group. */
function nearest(tasks: readonly Embedded<{ readonly group: string }>[]): Pairs {
  return tasks.flatMap((task) => {
    const alike = tasks.filter((each) => each !== task && each.item.group === task.item.group);
    if (alike.length === 0) return [];
    const cosines = alike.map((other) => cosinesOf(task, other));
    return [[Math.max(...cosines.map(([old]) => old)), Math.max(...cosines.map(([, now]) => now))] as const];
  });
}

function cosinesOf(a: Embedded<unknown>, b: Embedded<unknown>): readonly [number, number] {
  return [dot(a.vectors[0]!, b.vectors[0]!), dot(a.vectors[1]!, b.vectors[1]!)];
}

/** The cosine at the same quantile; null if too few pairs lie above or below. */
function moved(all: Pairs, cosine: number): number | null {
  const above = all.filter(([old]) => old >= cosine).length;
  if (above < LEAST_PAIRS || all.length - above < LEAST_PAIRS) return null;
  return all.map(([, now]) => now).sort((a, b) => b - a)[above - 1]!;
}

/** Stands for a model whose vectors are all in the cache. */
function cachedOnly(model: string) {
  return {
    model,
    dimension: 0,
    embed: () => Promise.reject(new Error(`Not in the cache of ${model}`)),
    close: () => Promise.resolve(),
  };
}
