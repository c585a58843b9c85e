/** A program of fifty calls, each using the one before: to its structure, and all the way to a script. */
import { parseSync } from 'oxc-parser';
import { buildStructure } from '../src/core/structure/build-structure.ts';
import { parseProgram } from '../src/core/structure/parse-program.ts';
import { prepareProgram } from '../src/core/structure/prepare-program.ts';
import type { BenchReport } from './run.ts';

const CALLS = 50;
const WARM_UP = 300;
const ROUNDS = 500;

export async function bench(): Promise<BenchReport> {
  const source = chain(CALLS);
  const structureOf = () => {
    const parsed = parseProgram(source);
    if (!parsed.ok) throw new Error(parsed.error.message);
    return buildStructure(parsed.value).structure;
  };
  const tasks = structureOf().nodes.filter(({ type }) => type === 'task');
  if (tasks.length !== CALLS) throw new Error(`${tasks.length} tasks were found, not ${CALLS}`);

  const times = { parse: [] as number[], structure: [] as number[], whole: [] as number[] };
  // Interleaved, so that a noisy moment of the machine hits all.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const moments = [performance.now()];
    for (const run of [
      () => parseSync('a.ts', `async () => {${source}}`).program,
      structureOf,
      () => prepareProgram(source),
    ]) {
      run();
      moments.push(performance.now());
    }
    if (round < 0) continue;
    times.parse.push(moments[1]! - moments[0]!);
    times.structure.push(moments[2]! - moments[1]!);
    times.whole.push(moments[3]! - moments[2]!);
  }
  const what = `${CALLS} calls, ${source.length} characters`;
  return {
    name: 'structure',
    rows: [
      { label: `${what}, to structure`, value: median(times.structure), unit: 'ms', goal: '<= 1.5 ms' },
      { label: `${what}, parsed only`, value: median(times.parse), unit: 'ms' },
      { label: `${what}, to structure and script`, value: median(times.whole), unit: 'ms' },
    ],
  };
}

/** What agents write: calls, and between some of them the work on what they gave. */
function chain(calls: number): string {
  const lines = ['const r0 = args.start;'];
  for (let n = 1; n <= calls; n++) {
    const before = `r${n - 1}`;
    const value =
      n % 10 === 0 ? `${before}.items.filter((x) => x.ok).map((x) => x.id)` : `${before}.items[${n % 3}].id`;
    lines.push(
      `const r${n} = await mcp.server_${n % 5}.tool_${n}({ from: ${value}, step: ${n}, note: \`step ${n}\` });`,
    );
  }
  return [...lines, `return r${calls};`].join('\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
