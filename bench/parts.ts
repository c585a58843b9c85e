/**
 * Cost of mining parts of jobs, run by run: 100,000 made-up runs in sessions, of 2,000 tools that are used as unevenly as
 * words are, in one of 200 procedures or at random. Time per run, what is counted and the heap, block by block, as the table
 * that docs/procedures.md has and its plot is drawn from.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRandom } from '../src/core/numeric/random.ts';
import { PartMiner } from '../src/core/planning/parts/part-miner.ts';
import type { RememberedRun } from '../src/core/planning/suggest/call-memory.ts';
import type { BenchReport } from './run.ts';

/** Frees what is not used any more, so that the heap is what is kept. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const RUNS = 100_000;
const BLOCKS = 10;
const RUNS_PER_SESSION = 3;
const TOOLS = 2_000;
const PROCEDURES = 200;

const random = createRandom(1);
/** Few tools are used often, most rarely (Zipf). */
const someTool = () => Math.min(TOOLS - 1, Math.floor(TOOLS ** random.next()) - 1);

export async function bench(): Promise<BenchReport> {
  const procedures = Array.from({ length: PROCEDURES }, () =>
    Array.from({ length: 4 }, () => random.int(TOOLS)),
  );
  const miner = new PartMiner();
  const blocks: Block[] = [];
  const size = RUNS / BLOCKS;
  for (let block = 0; block < BLOCKS; block++) {
    let total = 0;
    for (let i = 0; i < size; i++) {
      const run = madeUpRun(procedures, block * size + i);
      const start = performance.now();
      miner.add(run);
      total += performance.now() - start;
    }
    const ms = total / size;
    collect();
    const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
    blocks.push({ runs: (block + 1) * size, ms, kinds: miner.size, heapMb });
  }
  const mean = (some: typeof blocks) => some.reduce((sum, { ms }) => sum + ms, 0) / some.length;
  // The first block pays for compiling.
  const [early, late] = [mean(blocks.slice(1, 4)), mean(blocks.slice(-3))];
  const [half, last] = [blocks[BLOCKS / 2 - 1]!, blocks.at(-1)!];
  const parts = miner.parts();
  return {
    name: 'parts',
    rows: [
      { label: 'run 10,001 to 40,000', value: early * 1000, unit: 'us per run' },
      {
        label: 'run 70,001 to 100,000',
        value: late * 1000,
        unit: 'us per run',
        ratio: late / early,
        goal: '<= 1.25x',
      },
      { label: 'kinds of part counted', value: last.kinds, unit: '', goal: '<= 8192' },
      { label: 'heap after 50,000 runs', value: half.heapMb, unit: 'MB' },
      {
        label: 'heap after 100,000 runs',
        value: last.heapMb,
        unit: 'MB',
        ratio: last.heapMb / half.heapMb,
        goal: '<= 1.25x',
      },
      { label: 'parts found', value: parts.length, unit: '' },
      {
        label: 'procedures found whole',
        value: procedures.filter((tools) => parts.some((part) => part.tools.join() === named(tools).join()))
          .length,
        unit: `of ${PROCEDURES}`,
      },
    ],
    below: tableOf(blocks),
  };
}

interface Block {
  /** Up to here. */
  readonly runs: number;
  readonly ms: number;
  readonly kinds: number;
  readonly heapMb: number;
}

function tableOf(blocks: readonly Block[]): string {
  const rows = blocks.map(({ runs, ms, kinds, heapMb }) =>
    [runs.toLocaleString('en'), Math.round(ms * 1000), kinds.toLocaleString('en'), Math.round(heapMb)].join(
      ' | ',
    ),
  );
  return ['runs | us per run | kinds counted | heap, MB', '---|---|---|---', ...rows]
    .map((row) => `| ${row} |`)
    .join('\n');
}

const named = (tools: readonly number[]) => tools.map((tool) => `server${tool % 40}:tool_${tool}`);

function madeUpRun(procedures: readonly (readonly number[])[], i: number): RememberedRun {
  const isProcedure = random.next() < 0.5;
  const tools = isProcedure
    ? procedures[Math.min(PROCEDURES - 1, Math.floor(PROCEDURES ** random.next()) - 1)]!
    : Array.from({ length: 1 + random.int(5) }, someTool);
  const session = Math.floor(i / RUNS_PER_SESSION);
  return {
    session: `session ${session}`,
    intent: `do ${i}`,
    at: i,
    owner: null,
    visibility: 'shared',
    calls: named(tools).map((tool, k) => ({
      tool,
      arguments: { id: k === 0 ? `thing ${i}` : `id-${i}-${k - 1}`, note: `note ${random.int(1000)}` },
      result: { id: `id-${i}-${k}`, items: [{ name: `name ${k}`, size: random.int(1000) }] },
    })),
  };
}
