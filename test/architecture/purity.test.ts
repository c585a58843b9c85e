import { expect, test } from 'vitest';
import { complaints } from './check-command.ts';

test('[HOUSE-5] core may read no clock, draw no random number and reach nothing outside', async () => {
  const found = await complaints('arrows', {
    'src/core/tracing/probe.ts': [
      'const now = Date.now();',
      'const today = new Date();',
      'const text = Date();',
      'const chance = Math.random();',
      "const sly = Math['random']();",
      'const { random } = Math;',
      'const tick = performance.now();',
      'const home = process.env.HOME;',
      'const hidden = globalThis.process;',
      'setTimeout(() => {}, 1);',
      'const id = crypto.randomUUID();',
      "const page = await fetch('http://x');",
      'const wrapped = (process as unknown as { pid: number }).pid;',
      "import { readFileSync } from 'node:fs';",
      "import path from 'path';",
      "import { z } from 'zod';",
    ].join('\n'),
  });
  expect(found.map((line) => line.replace(/^src\/core\/tracing\/probe\.ts:/, '').split(/[:;] /)[0])).toEqual([
    '1 uses Date.now',
    '2 uses the present date',
    '3 uses the present date',
    '4 uses Math.random',
    '5 uses Math.random',
    '6 uses Math.random',
    '7 uses performance',
    '8 uses process',
    '9 uses process',
    '10 uses setTimeout',
    '11 uses crypto.randomUUID',
    '12 uses fetch',
    '13 uses process',
    '14 imports node:fs',
    '15 imports path',
    '16 imports zod',
  ]);
});

test('[HOUSE-5] code that only looks impure passes, and tests and other floors are free', async () => {
  const impure = 'export const now = Date.now() + performance.now() + Math.random();\n';
  const found = await complaints('arrows', {
    'src/core/tracing/pure.ts': [
      'export interface Options { process: string; now(): Date }',
      'export type Env = typeof process;',
      'export const f = (o: Options, rng: () => number) => new Date(o.process).getTime() + rng();',
      'export const g = { process: 1, fetch: 2, setTimeout() {} };',
      'export const h = g.process + g.fetch + Math.floor(1.5) + Date.UTC(2026);',
      'export const wasm = (bytes: Uint8Array) => new WebAssembly.Module(bytes as BufferSource);',
    ].join('\n'),
    'src/core/tracing/pure.test.ts': impure,
    'src/adapters/telemetry/clock.ts': impure,
  });
  expect(found).toEqual([]);
});

test('[HOUSE-5] a room imports only the packages listed for it', async () => {
  const found = await complaints('arrows', {
    'src/core/structure/a.ts': "import { parseSync } from 'oxc-parser';\nimport 'graphology';",
    'src/core/graph/a.ts': "import 'graphology-metrics/centrality';\nimport '@scope/graphology';",
    'src/engine/a.ts': "import 'zod';\nimport 'node:crypto';",
  });
  expect(found).toEqual([
    'src/core/graph/a.ts:2 imports @scope/graphology: core/graph may import only graphology*',
    'src/core/structure/a.ts:2 imports graphology: core/structure may import only oxc-*, @jridgewell/trace-mapping',
    'src/engine/a.ts:1 imports zod: engine may import only lru-cache',
    'src/engine/a.ts:2 imports node:crypto: engine may import no module of Node',
  ]);
});
