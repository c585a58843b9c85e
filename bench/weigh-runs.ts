/**
 * How sensitive the constants for weighing past runs are (src/core/learning/ranker/weigh-runs.ts). On data sets of
 * tasks, one run in five gets random tools; each constant is halved and doubled. Reports
 * - AUC: how often an honest run gets a higher weight than a poisoned one, and
 * - honest: the mean weight of runs where none is poisoned.
 * `--data DIR` names the folder of the sets.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dataDir } from '../src/adapters/config/find-config.ts';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { mean } from '../src/core/learning/gate/metrics.ts';
import { DEFAULTS, type WeighingOptions, weighRuns } from '../src/core/learning/ranker/weigh-runs.ts';
import { dot, rowOf } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { readDataSet } from '../src/evaluation/data-set.ts';
import { openWorkbench } from '../src/evaluation/workbench.ts';
import type { BenchReport, BenchRow } from './run.ts';

const SEED = 1;
const SETS = ['mcpbench', 'livemcp', 'ultratool', 'toollink', 'traject', 'toole'];
const RUNS = 300;
const POISONED = 0.2;
/** Upper limits of constants that are shares or cosines. */
const MOST: Partial<WeighingOptions> = { failed: 1, near: 0.9, least: 1, usualFit: 1 };

interface World {
  readonly uses: readonly (readonly number[])[];
  readonly poisoned: readonly (readonly number[])[];
  readonly isPoisoned: readonly boolean[];
  weigh(uses: World['uses'], options?: Partial<WeighingOptions>): Float64Array;
}

export async function bench(): Promise<BenchReport> {
  const folder = process.env.PML_BENCH_DATA;
  if (!folder || !existsSync(folder)) {
    const below = 'Nothing measured: name the folder of the data sets with --data DIR (docs/evaluation.md).';
    return { name: 'weigh-runs', rows: [], below };
  }
  const embedder = new StoredEmbedder(
    new MiniLmEmbedder(),
    join(dataDir({ env: process.env, cwd: process.cwd() }), 'vectors'),
  );
  const worlds: World[] = [];
  for (const name of SETS) worlds.push(await worldOf(join(folder, name), embedder));
  await embedder.close();
  const figures = (options?: Partial<WeighingOptions>) => ({
    auc: mean(worlds.map((world) => aucOf(world, world.weigh(world.poisoned, options)))),
    honest: mean(worlds.map((world) => mean([...world.weigh(world.uses, options)]))),
  });
  const served = figures();
  const rows: BenchRow[] = [
    { label: 'as it is: AUC', value: served.auc, unit: '' },
    { label: 'as it is: honest', value: served.honest, unit: '' },
    // honestDoubt and plainDoubt must lie between these two, over the sets.
    {
      label: 'most mean doubt, none poisoned',
      value: Math.max(...worlds.map((one) => doubtIn(one, one.uses))),
      unit: '',
    },
    {
      label: 'least mean doubt, poisoned',
      value: Math.min(...worlds.map((one) => doubtIn(one, one.poisoned))),
      unit: '',
    },
  ];
  for (const [name, value] of Object.entries(DEFAULTS) as [keyof WeighingOptions, number][]) {
    for (const [word, factor] of [
      ['halved', 0.5],
      ['doubled', 2],
    ] as const) {
      const changed = Math.min(MOST[name] ?? Number.POSITIVE_INFINITY, value * factor);
      const { auc, honest } = figures({ [name]: changed });
      rows.push({ label: `${name} ${word}: AUC`, value: auc - served.auc, unit: '' });
      rows.push({ label: `${name} ${word}: honest`, value: honest - served.honest, unit: '' });
    }
  }
  return { name: 'weigh-runs', rows };
}

function doubtIn(world: World, uses: World['uses']): number {
  return 1 - mean([...world.weigh(uses)]);
}

async function worldOf(folder: string, embedder: StoredEmbedder): Promise<World> {
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const random = createRandom(SEED);
  const tasks = random.shuffle([...data.train]).slice(0, RUNS);
  const workbench = await openWorkbench({ ...data, train: tasks, test: [] }, [], {
    embedder,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
  });
  const { toolVectors, embeddings } = workbench;
  const known = tasks.filter((task) => workbench.placesOf(task).length > 0);
  const intents = known.map(({ intent }) => embeddings.of(intent.trim()));
  const uses = known.map((task) => workbench.placesOf(task));
  const isPoisoned = known.map(() => random.next() < POISONED);
  const poisoned = uses.map((own, i) =>
    isPoisoned[i] ? [...new Set(own.map(() => random.int(toolVectors.rows)))] : own,
  );
  const similarities = intents.map((intent) => Float64Array.from(intents, (other) => dot(intent, other)));
  const cosines = intents.map((intent) =>
    Float64Array.from({ length: toolVectors.rows }, (_, tool) => dot(intent, rowOf(toolVectors, tool))),
  );
  return {
    uses,
    poisoned,
    isPoisoned,
    weigh: (told, options) =>
      weighRuns(
        {
          uses: told,
          succeeded: told.map(() => true),
          similarities: (run) => similarities[run]!,
          cosines: (run) => cosines[run]!,
          isHidden: (run, other) => known[run]!.group === known[other]!.group,
        },
        options,
      ).beliefs,
  };
}

/** Share of pairs of an honest and a poisoned run in which the honest one has the higher weight; ties count half. */
function aucOf({ isPoisoned }: World, beliefs: Float64Array): number {
  const honest = [...beliefs].filter((_, run) => !isPoisoned[run]);
  const wrong = [...beliefs].filter((_, run) => isPoisoned[run]);
  return mean(honest.flatMap((good) => wrong.map((bad) => (good === bad ? 0.5 : Number(good > bad)))));
}
