import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

/** A file that every fixture may aim at. */
const target = 'export type Thing = string;\n';
const importing = (...specifiers: string[]) =>
  specifiers.map((s) => `import type {} from '${s}';\n`).join('');

test('[HOUSE-1] the tree itself has only arrows that point down', () => {
  expect(runCheck('--only', 'arrows')).toMatchObject({ exitCode: 0, stderr: '' });
});

/** Room, what it imports, and the room that is in. */
const WRONG_ARROWS = [
  ['core/graph', '../learning/a.ts', 'core/learning'],
  ['core/vocabulary', '../numeric/a.ts', 'core/numeric'],
  ['core/policy', '../../engine/ports.ts', 'engine/ports'],
  ['engine', '../adapters/store/a.ts', 'adapters/store'],
  ['engine/ports', '../search.ts', 'engine'],
  ['adapters/store', '../config/a.ts', 'adapters/config'],
  ['adapters/upstream', '../../engine/search.ts', 'engine'],
  ['surfaces/http', '../mcp/a.ts', 'surfaces/mcp'],
  ['surfaces/cli', '../../adapters/store/a.ts', 'adapters/store'],
  ['surfaces/mcp', '../../core/graph/a.ts', 'core/graph'],
  ['surfaces/dashboard/app', '../server/a.ts', 'surfaces/dashboard/server'],
  ['surfaces/dashboard/server', '../app/a.ts', 'surfaces/dashboard/app'],
  ['surfaces/dashboard/shared', '../../../engine/search.ts', 'engine'],
  ['evaluation', '../adapters/store/a.ts', 'adapters/store'],
] as const;

test('[HOUSE-1] a wrong arrow is refused, with file, line, target and rule', async () => {
  const arrows = WRONG_ARROWS.map(([room, specifier, other]) => {
    const from = `src/${room}/probe.ts`;
    return { room, specifier, other, from, to: posix.join(posix.dirname(from), specifier) };
  });
  const found = await complaints('arrows', {
    ...Object.fromEntries(arrows.map(({ to }) => [to, target])),
    ...Object.fromEntries(arrows.map(({ from, specifier }) => [from, `\n${importing(specifier)}`])),
  });
  expect(found).toHaveLength(arrows.length);
  for (const { room, other, from, to } of arrows) {
    const complaint = found.find((line) => line.startsWith(`${from}:2 imports ${to}: ${room} may import `));
    expect(complaint, `${from} -> ${to}`).toMatch(`${other} is not among them`);
  }
});

test('[HOUSE-1] only main.ts imports compose.ts, and besides it only the command line', async () => {
  const found = await complaints('arrows', {
    'src/main.ts': importing('./compose.ts', './surfaces/cli/a.ts', './adapters/store/a.ts'),
    'src/compose.ts': importing('./adapters/store/a.ts', './surfaces/cli/a.ts', './core/graph/a.ts'),
    'src/evaluation/measure.ts': importing('../compose.ts'),
    'src/surfaces/cli/a.ts': target,
    'src/surfaces/cli/b.ts': importing('../../compose.ts'),
    'src/adapters/store/a.ts': target,
    'src/core/graph/a.ts': target,
  });
  expect(found).toEqual([
    'src/evaluation/measure.ts:1 imports src/compose.ts: evaluation may import only core/*, engine/*, and compose is not among them',
    'src/main.ts:3 imports src/adapters/store/a.ts: main may import only compose, surfaces/cli, and adapters/store is not among them',
    'src/surfaces/cli/b.ts:1 imports src/compose.ts: surfaces/cli may import only core/vocabulary, engine/*, operations, and compose is not among them',
  ]);
});

test('[HOUSE-1] every form of import counts', async () => {
  const found = await complaints('arrows', {
    'src/core/numeric/target.ts': target,
    'src/core/tracing/probe.ts': [
      "import '../numeric/target.ts';",
      "import type { Thing } from '../numeric/target.ts';",
      "export { Thing as Other } from '../numeric/target.ts';",
      "export * from '../numeric/target.ts';",
      'const later = () => import(`../numeric/target.ts`);',
      "type Inline = import('../numeric/target.ts').Thing;",
      "const worker = new URL('../numeric/target.ts', import.meta.url);",
      "const address = import.meta.resolve('../numeric/target.ts');",
      'const any = (name: string) => import(name);',
    ].join('\n'),
  });
  expect(found.map((line) => Number(/:(\d+) imports/.exec(line)?.[1]))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('[HOUSE-1] right arrows pass', async () => {
  const found = await complaints('arrows', {
    'src/core/vocabulary/ids.ts': target,
    'src/core/numeric/gemm.ts': target,
    'src/core/graph/adamic-adar.ts': importing('../vocabulary/ids.ts', '../numeric/gemm.ts', 'graphology'),
    'src/engine/ports.ts': `export type { Clock } from './ports/clock.ts';\n`,
    'src/engine/ports/clock.ts': 'export interface Clock {}\n',
    'src/engine/search.ts': importing('../core/graph/adamic-adar.ts', './ports.ts'),
    'src/adapters/store/sql.ts': importing('kysely', 'node:fs', '../../engine/ports.ts'),
    'src/surfaces/http/listener.ts': importing(
      'hono',
      '../../engine/search.ts',
      '../../core/vocabulary/ids.ts',
    ),
    'src/surfaces/dashboard/shared/view.ts': importing('../../../core/vocabulary/ids.ts'),
    'src/surfaces/dashboard/app/page.tsx': importing('preact', '../shared/view.ts'),
    'src/surfaces/dashboard/server/pages.ts': importing('../shared/view.ts', '../../../engine/search.ts'),
    'src/evaluation/protocol.ts': importing('../engine/search.ts', '../core/graph/adamic-adar.ts'),
  });
  expect(found).toEqual([]);
});

test('[HOUSE-2] a test may use lower floors, test/ and the test packages, and nothing may use a test', async () => {
  const found = await complaints('arrows', {
    'test/helper.ts': target,
    'src/core/graph/a.ts': target,
    'src/core/graph/a.test.ts': importing(
      './a.ts',
      'vitest',
      'fast-check',
      'node:fs',
      '../../../test/helper.ts',
    ),
    'src/core/graph/b.test.ts': importing('../learning/a.ts', 'kysely'),
    'src/core/learning/a.ts': target,
    'src/engine/search.ts': importing('../../test/helper.ts', '../core/graph/a.test.ts'),
    'src/adapters/store/sql.test.ts': importing(
      '../../engine/search.ts',
      '../../core/graph/a.ts',
      '../config/a.ts',
    ),
    'src/adapters/config/a.ts': target,
  });
  expect(found.map((line) => line.split(': ')[0])).toEqual([
    'src/adapters/store/sql.test.ts:3 imports src/adapters/config/a.ts',
    'src/core/graph/b.test.ts:1 imports src/core/learning/a.ts',
    'src/core/graph/b.test.ts:2 imports kysely',
    'src/engine/search.ts:1 imports test/helper.ts',
    'src/engine/search.ts:2 imports src/core/graph/a.test.ts',
  ]);
});

test('[HOUSE-3] a file in no room, an import of a missing file, and a broken file are refused', async () => {
  const found = await complaints('arrows', {
    'src/helpers/a.ts': target,
    'src/core/loose.ts': target,
    'src/surfaces/dashboard/loose.ts': target,
    'src/engine/search.ts': importing('./gone.ts', '#alias'),
    'src/engine/train.ts': 'import {',
  });
  expect(found).toEqual([
    expect.stringMatching('^src/core/loose.ts belongs to no room'),
    'src/engine/search.ts:1 imports src/engine/gone.ts, which does not exist',
    'src/engine/search.ts:2 imports #alias: write a relative path or a package name',
    expect.stringMatching('^src/engine/train.ts does not parse'),
    expect.stringMatching('^src/helpers/a.ts belongs to no room'),
    expect.stringMatching('^src/surfaces/dashboard/loose.ts belongs to no room'),
  ]);
});

test('[HOUSE-4] an import cycle is refused, even one of types only', async () => {
  const found = await complaints('arrows', {
    'src/engine/a.ts': importing('./b.ts'),
    'src/engine/b.ts': importing('./c.ts', './worker.ts'),
    'src/engine/c.ts': `\n${importing('./a.ts')}`,
    'src/engine/worker.ts': `new URL('./host.ts', import.meta.url);`,
    'src/engine/host.ts': importing('./worker.ts'),
    'src/engine/self.ts': importing('./self.ts'),
  });
  const cycle = (...files: string[]) => files.map((name) => `src/engine/${name}.ts`).join(' -> ');
  expect(found).toEqual([
    `src/engine/a.ts:1 is part of an import cycle: ${cycle('a', 'b', 'c', 'a')}`,
    `src/engine/self.ts:1 is part of an import cycle: ${cycle('self', 'self')}`,
  ]);
});
