/**
 * Fits what plans made of past runs are worth, a logistic of what is known of them, on data sets of tasks with known
 * correct tools:
 *
 *   node scripts/fit-plan-worth.ts --data DIR [--cache DIR]
 *
 * DIR has one folder per data set. Each is measured near and far from past runs, and counts the same as the others.
 * Prints the values fitted on all sets (shipped in core/planning/draft/plan-record.ts), and those without each set
 * (evaluation/evaluate.ts). Takes about ten minutes a set.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { fitWorth, type PlanSigns } from '../src/core/planning/draft/plan-record.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import type { Protocol } from '../src/core/vocabulary/evaluation-report.ts';
import { findDataSets, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { textChancesFor } from '../src/evaluation/evaluate.ts';
import { foldsOf } from '../src/evaluation/folds.ts';
import { createDrafter, scorePlans } from '../src/evaluation/plan-quality.ts';
import { openSchool } from '../src/evaluation/rank-by-model.ts';
import { openWorkbench, weightsFor } from '../src/evaluation/workbench.ts';

const SEED = 1;
/** Most tasks measured of each fold. */
const TASKS_PER_FOLD = 200;
/** Plans that each set and protocol counts for, and one plan at the most. */
const PLANS = 200;
const MOST_WEIGHT = 3;
/** Pull toward 0: of the level, and of the others. */
const PULL = [0.4, 4, 4, 4, 4];
/** The protocol for near tasks, where it is not `disjoint`. */
const NEAR: Readonly<Record<string, Protocol>> = { livemcp: 'cv5', mcpbench: 'cv5', toole: 'id' };

type Row = PlanSigns & { readonly f1: number; readonly weight: number };

const { values } = parseArgs({ options: { data: { type: 'string' }, cache: { type: 'string' } } });
if (values.data === undefined) {
  console.error('fit-plan-worth: name the folder of the data sets with --data');
  process.exit(2);
}

const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));
const sets = new Map<string, readonly Row[]>();
for (const folder of await findDataSets(values.data)) {
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const emptyIndex = () => new WasmVectorIndex(embedder.dimension);
  const tasks = [...data.train, ...data.test];
  const bench = await openWorkbench(data, tasks, { embedder, emptyIndex });
  const rows: Row[] = [];
  for (const protocol of [NEAR[data.name] ?? 'disjoint', 'narrow', 'new-tools'] as const) {
    const isByRun = protocol === 'id' || protocol === 'narrow';
    const alike = isByRun ? ({ id }: Task) => id : ({ group }: Task) => group;
    const fitted = { weights: weightsFor(data.name), textChances: textChancesFor(data.name) };
    const school = openSchool(bench, { ...fitted, alike, seed: SEED });
    const folds = foldsOf(data, protocol, SEED).map(({ train, test }) => ({
      train,
      test: createRandom(SEED)
        .shuffle([...test])
        .slice(0, TASKS_PER_FOLD),
    }));
    const plans = (await scorePlans(bench, createDrafter(school), folds)).flatMap(({ signs, nodeF1 }) =>
      signs ? [{ ...signs, f1: nodeF1 }] : [],
    );
    const weight = Math.min(MOST_WEIGHT, PLANS / plans.length);
    rows.push(...plans.map((plan) => ({ ...plan, weight })));
  }
  sets.set(data.name, rows);
}
await embedder.close();

print('all', [...sets.values()]);
for (const left of sets.keys()) {
  print(
    `without ${left}`,
    [...sets].filter(([name]) => name !== left).map(([, rows]) => rows),
  );
}

function print(name: string, groups: readonly (readonly Row[])[]): void {
  const start = PULL.map(() => 0);
  const fitted = fitWorth(groups.flat(), start, PULL);
  console.log(name, JSON.stringify(Array.from(fitted, (value) => Math.round(100 * value) / 100)));
}
