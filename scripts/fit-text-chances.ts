/**
 * Fits the probability that a tool is correct given its text alone, a logistic of its text score, rank and lead, on
 * data sets of tasks with known correct tools:
 *
 *   node scripts/fit-text-chances.ts --data DIR [--cache DIR]
 *
 * DIR has one folder per data set; every set has the same weight. Prints the values fitted on all sets (shipped in
 * core/retrieval/text-scores.ts), and those without each set (evaluation/evaluate.ts).
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { TopK } from '../src/core/numeric/top-k.ts';
import { leadOf, type TextChances } from '../src/core/retrieval/text-scores.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { scoreTools } from '../src/engine/catalogue/search.ts';
import { findDataSets, readDataSet } from '../src/evaluation/data-set.ts';
import { openWorkbench, weightsFor } from '../src/evaluation/workbench.ts';

/** Most tasks per set, and most tools per task, the best first. */
const TASKS_PER_SET = 300;
const TOOLS_PER_TASK = 5;
const STEPS = 4_000;
/** Learning rates for bias, score, rank and lead: scores span little. */
const RATES = [2, 8, 2, 8] as const;

interface Row {
  readonly values: readonly [bias: number, score: number, logRank: number, lead: number];
  readonly isRight: boolean;
}

const { values } = parseArgs({ options: { data: { type: 'string' }, cache: { type: 'string' } } });
if (values.data === undefined) {
  console.error('fit-text-chances: name the folder of the data sets with --data');
  process.exit(2);
}

const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));
const sets = new Map<string, readonly Row[]>();
for (const folder of await findDataSets(values.data)) {
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const step = Math.max(1, Math.floor(data.train.length / TASKS_PER_SET));
  const tasks = data.train.filter((_, i) => i % step === 0).slice(0, TASKS_PER_SET);
  const emptyIndex = () => new WasmVectorIndex(embedder.dimension);
  const bench = await openWorkbench({ ...data, train: tasks, test: [] }, tasks, { embedder, emptyIndex });
  const rows: Row[] = [];
  for (const task of tasks) {
    const scores = (await scoreTools(bench.index, bench.embeddings, task.intent, weightsFor(data.name)))!
      .fused;
    const right = new Set(bench.goldOf(task).flat());
    const best = new TopK(TOOLS_PER_TASK);
    for (const [place, score] of scores.entries()) best.offer(place, score);
    const ranked = best.sorted();
    for (const [rank, { row, score }] of ranked.entries()) {
      const lead = rank === 0 ? leadOf(ranked.map((each) => each.score)) : 0;
      rows.push({ values: [1, score, Math.log(rank + 1), lead], isRight: right.has(row) });
    }
  }
  sets.set(data.name, rows);
}
await embedder.close();

console.log('all', JSON.stringify(chancesFrom([...sets.values()])));
for (const left of sets.keys()) {
  const others = [...sets].filter(([name]) => name !== left).map(([, rows]) => rows);
  console.log(`without ${left}`, JSON.stringify(chancesFrom(others)));
}

/** Logistic regression by gradient descent, with equal weight per set. */
function chancesFrom(groups: readonly (readonly Row[])[]): TextChances {
  const weights = [0, 0, 0, 0];
  for (let step = 0; step < STEPS; step++) {
    const slopes = [0, 0, 0, 0];
    for (const rows of groups) {
      for (const { values: row, isRight } of rows) {
        const logit = row.reduce((sum, value, k) => sum + value * weights[k]!, 0);
        const error = 1 / (1 + Math.exp(-logit)) - Number(isRight);
        for (const [k, value] of row.entries()) slopes[k]! += (error * value) / (rows.length * groups.length);
      }
    }
    for (const [k, slope] of slopes.entries()) weights[k]! -= RATES[k]! * slope;
  }
  const [bias, score, rank, lead] = weights.map((weight) => Math.round(100 * weight) / 100);
  return { bias: bias!, score: score!, rank: rank!, lead: lead! };
}
