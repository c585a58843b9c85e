/**
 * Cost of mining parts of jobs, run by run: 100,000 made-up runs in sessions, of 2,000 tools that are used as unevenly as
 * words are, in one of 200 procedures or at random. Time per run, what is counted and the heap, block by block.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRandom } from '../src/core/numeric/random.ts';
import { PartMiner } from '../src/core/planning/parts/part-miner.ts';
import type { RememberedRun } from '../src/core/planning/suggest/call-memory.ts';
import type { BenchReport } from './run.ts';
import { logLogPlot } from './support/log-log-plot.ts';

/** Frees what is not used any more, so that the heap is what is kept. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const RUNS = 100_000;
const BLOCKS = 20;
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
  const blocks: {
    readonly runs: number;
    readonly ms: number;
    readonly kinds: number;
    readonly heapMb: number;
  }[] = [];
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
  const [early, late] = [mean(blocks.slice(1, 6)), mean(blocks.slice(-5))];
  const last = blocks.at(-1)!;
  const parts = miner.parts();
  const plot = logLogPlot(
    [{ name: 'time per run', points: blocks.map(({ runs, ms }) => [runs, ms * 1000]) }],
    'us',
  );
  return {
    name: 'parts',
    rows: [
      { label: 'run 5,001 to 30,000', value: early * 1000, unit: 'us per run' },
      {
        label: 'run 75,001 to 100,000',
        value: late * 1000,
        unit: 'us per run',
        ratio: late / early,
        goal: '<= 1.25x',
      },
      { label: 'kinds of part counted', value: last.kinds, unit: '', goal: '<= 8192' },
      { label: 'heap after 25,000 runs', value: blocks[BLOCKS / 4 - 1]!.heapMb, unit: 'MB' },
      { label: 'heap after 100,000 runs', value: last.heapMb, unit: 'MB' },
      { label: 'parts found', value: parts.length, unit: '' },
      {
        label: 'procedures found whole',
        value: procedures.filter((tools) => parts.some((part) => part.tools.join() === named(tools).join()))
          .length,
        unit: `of ${PROCEDURES}`,
      },
    ],
    below: plot,
  };
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
