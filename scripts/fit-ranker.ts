/**
 * Trains start weights of the ranker's feature fusion, for the ablation "start from a prior":
 *
 *   node scripts/fit-ranker.ts --data DIR [--cache DIR] [--write]
 *
 * DIR has one folder per data set. Training tasks are ranked as if only 0, 15, … 1000 other runs had been seen, so
 * that one start fits gateways of every age; the start for each set is trained on all others. `--write` puts them
 * where `npm run ablate` finds them. The served ranker starts with the ranking of search, which was measured to be
 * better.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { Adam } from '../src/core/learning/optim/adam.ts';
import type { Candidates } from '../src/core/learning/ranker/candidates.ts';
import { rememberRuns } from '../src/core/learning/ranker/learn-ranker.ts';
import { RankModel } from '../src/core/learning/ranker/rank-model.ts';
import { exampleOf, learnFrom, type TrainingExample } from '../src/core/learning/ranker/train-ranker.ts';
import { FusionTerm, type FusionWeights, searchFusion } from '../src/core/learning/terms/fusion-term.ts';
import { WasmMultiplier } from '../src/core/numeric/kernels.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { findDataSets, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { candidatesOf, formsOf, runOf } from '../src/evaluation/rank-by-model.ts';
import { openWorkbench, weightsFor } from '../src/evaluation/workbench.ts';

const SEED = 1;
/** Numbers of past runs that a task can see. */
const AGES = [0, 15, 30, 60, 100, 300, 1000];
/** Different pasts per set and age, and tasks ranked with each. */
const DRAWS = 3;
const TASKS_PER_DRAW = 40;
const STEPS = 2500;
const BATCH = 40;
const RATE = 5e-3;
/** Pull towards search. */
const DECAY = 1e-3;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    cache: { type: 'string' },
    write: { type: 'boolean' },
  },
});
if (values.data === undefined) {
  console.error('fit-ranker: name the folder of the data sets with --data');
  process.exit(2);
}

const HELD_OUT = new URL('../bench/ablation/held-out-priors.ts', import.meta.url);

const multiplier = new WasmMultiplier();
const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));

/** Examples of one set with the same past. */
interface Draw {
  readonly candidates: Candidates;
  readonly examples: readonly TrainingExample[];
}

async function drawsOf(folder: string): Promise<{ name: string; draws: Draw[] }> {
  const data = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
  const random = createRandom(SEED);
  const train = random.shuffle([...data.train]).slice(0, Math.max(...AGES) + DRAWS * TASKS_PER_DRAW);
  const bench = await openWorkbench({ ...data, train, test: [] }, train, {
    embedder,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
  });
  const candidates = candidatesOf(bench);
  const alike = ({ group }: Task) => group;
  const draws: Draw[] = [];
  for (const age of AGES) {
    if (age > train.length && age > AGES.find((each) => each >= train.length)!) continue;
    for (let draw = 0; draw < DRAWS; draw++) {
      const tasks = random.shuffle([...train]);
      const past = rememberRuns(
        candidates,
        tasks.slice(0, age).map((task) => runOf(bench, task, alike(task))),
      );
      const asked = random.shuffle(tasks).slice(0, TASKS_PER_DRAW);
      const examples = asked
        .map((task) => ({ ...formsOf(bench, task), uses: bench.placesOf(task), key: alike(task) }))
        .filter(({ uses }) => uses.length > 0)
        .map((run) => exampleOf(run, 1, candidates, past, { weights: weightsFor(data.name) }));
      draws.push({ candidates, examples });
    }
  }
  return { name: data.name, draws };
}

function priorOf(sets: readonly { readonly draws: readonly Draw[] }[]): FusionWeights {
  const random = createRandom(SEED);
  const term = new FusionTerm(multiplier, searchFusion(random));
  const model = new RankModel(multiplier, [term]);
  const adam = new Adam(model.parameters, DECAY);
  for (let step = 0; step < STEPS; step++) {
    const { draws } = sets[step % sets.length]!;
    const { candidates, examples } = draws[random.int(draws.length)]!;
    learnFrom(model, candidates, random.shuffle([...examples]).slice(0, BATCH), random);
    adam.step(RATE * Math.min(1, (step + 1) / 50) * 0.5 * (1 + Math.cos((Math.PI * step) / STEPS)));
  }
  return term.weights;
}

const sets: Awaited<ReturnType<typeof drawsOf>>[] = [];
for (const folder of await findDataSets(values.data)) {
  sets.push(await drawsOf(folder));
  console.log(`${sets.at(-1)!.name}: ${sets.at(-1)!.draws.length} pasts`);
}
await embedder.close();

const heldOut = sets.map(({ name }) => {
  console.log(`without ${name}`);
  return [name, encode(priorOf(sets.filter((set) => set.name !== name)))] as const;
});
if (values.write) writeFileSync(fileURLToPath(HELD_OUT), heldOutFile(heldOut));

/** In the format of `readPrior`. */
function encode({ linear, inward, bias, outward }: FusionWeights): string {
  const numbers = [linear, inward, bias, outward].flatMap((values) => Array.from(values));
  return new Uint8Array(Float32Array.from(numbers).buffer).toBase64();
}

function heldOutFile(priors: readonly (readonly [string, string])[]): string {
  const rows = priors.map(([name, base64]) => `  ${name}: '${base64}',\n`);
  return `// Written by scripts/fit-ranker.ts; do not edit.
import { readPrior } from '../bench/ablation/read-prior.ts';

/** For each data set, start weights of the fusion, trained on the others. */
const HELD_OUT: Readonly<Record<string, string>> = {
${rows.join('')}};

/** For the ablation: this start was measured to be no better than that of search. */
export function priorFor(dataset: string): FusionWeights | null {
  const base64 = HELD_OUT[dataset];
  return base64 === undefined ? null : readPrior(base64);
}
`;
}
