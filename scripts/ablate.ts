/**
 * Measures what each part of the ranker contributes, relative to the served ranker:
 *
 *   npm run ablate -- --data DIR [--cache DIR] [--sets NAME,...] [--only VARIANT,...] [--write]
 *
 * DIR has one folder per data set. Every variant is trained on the same runs as the served ranker and ranks the
 * same tasks; the output is the mean difference of nDCG@10 with its 95 % interval (paired bootstrap).
 * The cluster boost of the next tool is measured by MRR, on recorded runs if a set has them.
 * `--write` puts the tables into docs/ablation.md.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { priorFor } from '../bench/ablation/held-out-priors.ts';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { mean, ndcg10, ranksOf } from '../src/core/learning/gate/metrics.ts';
import { pairedBootstrap } from '../src/core/learning/gate/paired-bootstrap.ts';
import { FEATURES, type Feature, WIDTH } from '../src/core/learning/ranker/rank-features.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import type { Gain, Protocol } from '../src/core/vocabulary/evaluation-report.ts';
import { type DataSet, readDataSet, type Task } from '../src/evaluation/data-set.ts';
import { foldsOf } from '../src/evaluation/folds.ts';
import { formsOf, openSchool, type TeachingOptions } from '../src/evaluation/rank-by-model.ts';
import { openWorkbench, type Workbench, weightsFor } from '../src/evaluation/workbench.ts';
import { BOOSTS, clusterBoosts } from './ablate-cluster-boost.ts';

const SEED = 1;

/** Runs to train on and tasks to rank: as many as take minutes, not hours. */
const SETS: readonly { name: string; protocol: Protocol; runs: number; tasks: number }[] = [
  { name: 'mcpbench', protocol: 'cv5', runs: 100, tasks: 100 },
  { name: 'ultratool', protocol: 'disjoint', runs: 150, tasks: 250 },
  { name: 'toollink', protocol: 'disjoint', runs: 150, tasks: 150 },
];

type Variant = Pick<TeachingOptions, 'model' | 'training'>;

/** A variant of the next-tool model, which is separate. */
const CLUSTERS = 'cluster boost';
const NEXT_SETS = ['livemcp', 'ultratool', 'toollink'];

const SERVED = ['fusion', 'bilinear'] as const;

/** By name; variants that depend on the data set are functions of its name. */
const VARIANTS: Readonly<Record<string, Variant | ((set: string) => Variant)>> = {
  'without heads': { model: { terms: ['fusion'] } },
  'heads 4': { model: { bilinear: { heads: 4 } } },
  'heads 12': { model: { bilinear: { heads: 12 } } },
  'heads 16': { model: { bilinear: { heads: 16 } } },
  'heads by the number of runs': { model: { bilinear: { heads: 'adaptive' } } },
  'hidden 64': { model: { fusion: { hidden: 64 } } },
  'hidden 128': { model: { fusion: { hidden: 128 } } },
  'hidden 256': { model: { fusion: { hidden: 256 } } },
  'early stopping': { training: { patience: 3 } },
  'no dropout': { model: { fusion: { dropout: 0 } } },
  'replay alpha .3': { training: { alpha: 0.3 } },
  'replay alpha .6': { training: { alpha: 0.6 } },
  'replay alpha .9': { training: { alpha: 0.9 } },
  'start from a prior': (set) => {
    const start = priorFor(set);
    return start ? { model: { fusion: { start } } } : {};
  },
  'without votes': without('votes', 'lexical_votes', 'warm_votes', 'hot_votes'),
  'without past users': without('nearest_user', 'mean_user', 'lexical_user', 'clause_user'),
  'without co-use': without('co_use'),
  'without popularity': without('popularity'),
  'without servers': without('server_text', 'server_votes'),
  'without names': without('name'),
  'without text parts': without('whole', 'lexical', 'clause'),
  'without the situation': {
    model: {
      fusion: { unseen: Array.from({ length: WIDTH - FEATURES.length }, (_, i) => FEATURES.length + i) },
    },
  },
  'with attention over a set': { model: { terms: [...SERVED, 'set_attention'] } },
  'the same with separate projections': {
    model: { terms: [...SERVED, 'set_attention'], set_attention: { isSeparate: true } },
  },
  'with message passing': { model: { terms: [...SERVED, 'message_passing'] } },
  'with attention among candidates': { model: { terms: [...SERVED, 'candidate_attention'] } },
};

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    cache: { type: 'string' },
    sets: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean' },
  },
});
if (values.data === undefined) {
  console.error('ablate: name the folder of the data sets with --data');
  process.exit(2);
}
const chosen = values.only?.split(',');
const names = Object.keys(VARIANTS).filter((name) => !chosen || chosen.includes(name));
const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));

const columns: { title: string; cells: ReadonlyMap<string, string>; served: number }[] = [];
const asked = values.sets?.split(',');
if (names.length > 0) {
  for (const set of SETS) if (!asked || asked.includes(set.name)) columns.push(await measure(set));
}
const boosts: string[] = [];
if (!chosen || chosen.includes(CLUSTERS)) {
  for (const name of NEXT_SETS) if (!asked || asked.includes(name)) boosts.push(await measureClusters(name));
}
await embedder.close();
const table = `${tableOf(columns)}${boosts.length > 0 ? boostTable(boosts) : ''}`;
console.log(table);
if (values.write) {
  const doc = new URL('../docs/ablation.md', import.meta.url);
  writeFileSync(fileURLToPath(doc), `${introduction()}\n${table}`);
}

async function measure({ name, protocol, runs, tasks }: (typeof SETS)[number]) {
  const data = await readDataSet(join(values.data!, name), { split: 'dev', tasks: 'tasks' });
  const folds = foldsOf(data, protocol, SEED).map(({ train, test }) => ({
    train: createRandom(SEED)
      .shuffle([...train])
      .slice(0, runs),
    test: createRandom(SEED)
      .shuffle([...test])
      .slice(0, tasks),
  }));
  const bench = await benchOf(
    data,
    folds.flatMap(({ train, test }) => [...train, ...test]),
  );
  const scoresOf = (variant: Variant): number[] => {
    const options = { weights: weightsFor(name), alike: ({ group }: Task) => group, seed: SEED, ...variant };
    const school = openSchool(bench, options);
    return folds.flatMap(({ train, test }) => {
      const ranker = school.rankerOf(train);
      return test.map((task) =>
        ndcg10(ranksOf(ranker.rank(formsOf(bench, task)).logits, bench.goldOf(task))),
      );
    });
  };
  const served = scoresOf({});
  const cells = new Map<string, string>();
  for (const variant of names) {
    const given = VARIANTS[variant]!;
    const scores = scoresOf(typeof given === 'function' ? given(name) : given);
    cells.set(variant, cellOf(pairedBootstrap(scores, served, createRandom(SEED))));
    console.error(`${name}: ${variant}: ${cells.get(variant)}`);
  }
  return { title: `${name} ${protocol}`, cells, served: mean(served) };
}

function benchOf(data: DataSet, known: readonly Task[]): Promise<Workbench> {
  return openWorkbench({ ...data, train: known, test: [] }, known, {
    embedder,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
  });
}

async function measureClusters(name: string): Promise<string> {
  const isRecorded = name === 'livemcp';
  const data = await readDataSet(join(values.data!, name), {
    split: 'dev',
    tasks: isRecorded ? 'traces' : 'tasks',
  });
  const folds = foldsOf(data, isRecorded ? 'cv5' : 'disjoint', SEED);
  const bench = await benchOf(
    data,
    folds.flatMap(({ train, test }) => [...train, ...test]),
  );
  const { cases, gains } = clusterBoosts(bench, name, folds, SEED);
  return row([`${name}, ${cases} steps`, ...gains.map(cellOf)]);
}

function boostTable(rows: readonly string[]): string {
  const head = row(['next tool, MRR', ...BOOSTS.map((boost) => `boost ${boost}`)]);
  return ['\n', head, row(['---', ...BOOSTS.map(() => '---')]), ...rows].join('');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function cellOf({ gain, ci95 }: Gain): string {
  return `${signed(gain)} [${signed(ci95[0])}, ${signed(ci95[1])}]`;
}

function without(...features: readonly Feature[]): Variant {
  return { model: { fusion: { unseen: features.map((feature) => FEATURES.indexOf(feature)) } } };
}

function tableOf(sets: typeof columns): string {
  if (sets.length === 0 || names.length === 0) return '';
  return [
    row(['', ...sets.map(({ title }) => title)]),
    row(['---', ...sets.map(() => '---')]),
    row(['what serves, nDCG@10', ...sets.map(({ served }) => served.toFixed(3))]),
    ...names.map((name) => row([name, ...sets.map(({ cells }) => cells.get(name)!)])),
  ].join('');
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3).replace(/^0/, '')}`;
}

function introduction(): string {
  return `# What each part of the ranker is worth

\`npm run ablate -- --data DIR --write\`, all-MiniLM-L6-v2, seed ${SEED}. Differences of nDCG@10 to the served ranker, with their
95 % intervals (paired bootstrap over tasks). Trained on ${SETS.map(({ name, runs }) => `${name} up to ${runs}`).join(', ')} runs.
[docs/learning.md](learning.md) says what follows from it.
`;
}
