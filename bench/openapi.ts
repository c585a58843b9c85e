/** From an OpenAPI document with 500 operations to the list of its tools, as the gateway gets it at the first use. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openUpstream } from '../test/contracts/upstream-support.ts';
import type { BenchReport } from './run.ts';
import { percentile } from './support/percentile.ts';

const OPERATIONS = 500;
const ROUNDS = 20;

export async function bench(): Promise<BenchReport> {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  try {
    const file = join(dir, 'api.json');
    const text = JSON.stringify(documentOf(OPERATIONS));
    await writeFile(file, text);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await listing(file));
    return {
      name: 'openapi',
      rows: [
        {
          label: `${OPERATIONS} operations, ${Math.round(text.length / 1024)} KB: first listing`,
          value: times[0]!,
          unit: 'ms',
          goal: '<= 2000 ms',
        },
        { label: 'listing: p50', value: percentile(times, 0.5), unit: 'ms' },
      ],
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function listing(document: string): Promise<number> {
  const { upstream, dispose } = openUpstream([
    {
      name: 'api',
      transport: 'openapi',
      document,
      url: 'https://api.example',
      origins: ['https://api.example'],
      headers: {},
      disabled: false,
      tools: { include: ['*'], exclude: [] },
      timeoutMs: 20_000,
      concurrency: 8,
    },
  ]);
  try {
    const begin = performance.now();
    const listed = await upstream.catalogue('api');
    const ms = performance.now() - begin;
    if (!listed.ok || listed.value.length !== OPERATIONS) throw new Error('not all operations are listed');
    return ms;
  } finally {
    await dispose();
  }
}

/** Every operation has parameters and a body of nested schemas that refer to one another. */
function documentOf(operations: number): object {
  const ref = (n: number) => ({ $ref: `#/components/schemas/Thing${n % 100}` });
  const field = (n: number) => ({ type: 'string', description: `Field ${n} of a thing, as people know it` });
  const schemas = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [
      `Thing${n}`,
      {
        type: 'object',
        properties: {
          ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`field_${i}`, field(i)])),
          ...(n % 4 !== 0 && { part: ref(n + 1) }),
        },
      },
    ]),
  );
  const operation = (n: number) => ({
    operationId: `doThing${n}`,
    summary: `Do thing ${n}`,
    description: 'Does the thing with the given id and answers with what became of it. '.repeat(4),
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      ...Array.from({ length: 6 }, (_, i) => ({ name: `filter_${i}`, in: 'query', schema: field(i) })),
    ],
    ...(n % 2 === 1 && { requestBody: { content: { 'application/json': { schema: ref(n) } } } }),
  });
  const paths = Object.fromEntries(
    Array.from({ length: operations }, (_, n) => [
      `/things${n}/{id}`,
      { [n % 2 === 1 ? 'post' : 'get']: operation(n) },
    ]),
  );
  const info = { title: 'Things', version: '1' };
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: 'https://api.example' }],
    paths,
    components: { schemas },
  };
}
