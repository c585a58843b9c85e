/** Programs of fifty calls, each using the one before: conversion to their structure, and further to a script. */

import { prepareProgram } from '../src/core/structure/emit/prepare-program.ts';
import { buildStructure } from '../src/core/structure/evaluate/build-structure.ts';
import { parseProgram } from '../src/core/structure/parse/parse-program.ts';
import type { BenchReport } from './run.ts';

const CALLS = 50;
const WARM_UP = 300;
const ROUNDS = 500;

export async function bench(): Promise<BenchReport> {
  const plain = chain((before) => `${before}.id`);
  const busy = chain((before, n) =>
    n % 5 === 0
      ? `${before}.items.filter((x) => x.ok).map((x) => x.id)`
      : `\`\${${before}.items[${n % 3}].id}-${n}\``,
  );
  const work = {
    structure: () => structureOf(plain),
    script: () => prepareProgram(plain),
    busy: () => structureOf(busy),
  };
  for (const source of [plain, busy]) {
    const tasks = structureOf(source).nodes.filter(({ type }) => type === 'task');
    if (tasks.length !== CALLS) throw new Error(`${tasks.length} tasks were found, not ${CALLS}`);
  }
  const times: Record<keyof typeof work, number[]> = { structure: [], script: [], busy: [] };
  // Interleaved, so that noise of the machine affects all.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(work) as [keyof typeof work, () => unknown][]) {
      const start = performance.now();
      run();
      if (round >= 0) times[name].push(performance.now() - start);
    }
  }
  const row = (label: string, measured: readonly number[]) => ({
    label,
    value: median(measured),
    unit: 'ms',
  });
  return {
    name: 'structure',
    rows: [
      { ...row(`chain of ${CALLS} calls, to structure`, times.structure), goal: '<= 1.5 ms' },
      row(`chain of ${CALLS} calls, to structure and script`, times.script),
      row(`${CALLS} calls with operations and templates, to structure`, times.busy),
    ],
  };
}

function structureOf(source: string) {
  const parsed = parseProgram(source);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return buildStructure(parsed.value).structure;
}

function chain(value: (before: string, n: number) => string): string {
  const lines = ['const r0 = args.start;'];
  for (let n = 1; n <= CALLS; n++) {
    lines.push(`const r${n} = await mcp.server.tool_${n}({ from: ${value(`r${n - 1}`, n)}, step: ${n} });`);
  }
  return [...lines, `return r${CALLS};`].join('\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
