/**
 * Cost of one search over a large catalogue: with given query vectors, and with the built-in model computing them.
 * `--data DIR` uses the definitions of DIR/toucan/tools.jsonl.gz; otherwise they are made up.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { normalise } from '../src/core/numeric/matrices.ts';
import { createRandom } from '../src/core/numeric/random.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import type { ToolId } from '../src/core/vocabulary/ids.ts';
import type { ToolDefinition } from '../src/core/vocabulary/tool-definition.ts';
import { createSearchIndex, search } from '../src/engine/catalogue/search.ts';
import type { Embedder } from '../src/engine/ports.ts';
import { readJsonLines } from '../src/evaluation/data-set.ts';
import type { BenchReport } from './run.ts';
import { percentile } from './support/percentile.ts';

const TOOLS = 5256;
const WARM_UP = 2;
const ROUNDS = 10;

/** As agents write them: from a few words to two sentences. */
const QUERIES = [
  'read a text file',
  'send an email',
  'list pull requests',
  'weather forecast',
  'search the web for recent news about a company',
  'convert a PDF document to plain text',
  'create a calendar event for tomorrow at ten',
  'find flights from Berlin to Lisbon next Friday',
  'query a postgres database and count the rows',
  'translate this paragraph into Japanese',
  'get the current price of a stock',
  'take a screenshot of a web page',
  'resize an image and save it',
  'look up the DNS records of a domain',
  'upload a file to cloud storage',
  'summarise a YouTube video from its transcript',
  'find restaurants nearby and book a table for four',
  'download the paper from arXiv and extract its references',
  'open the issue tracker and assign the bug to me',
  'post a message to the team channel when the build fails',
];

export async function bench(): Promise<BenchReport> {
  const random = createRandom(1);
  const model = new MiniLmEmbedder();
  const unit = () => normalise(Float32Array.from({ length: model.dimension }, () => random.normal()));
  const tools = await definitions();
  const vectors = new WasmVectorIndex(model.dimension);
  for (const { id } of tools) vectors.set(id, unit());
  const started = performance.now();
  const index = createSearchIndex(tools, vectors);
  const indexMs = performance.now() - started;

  const given: Embedder = {
    ...model,
    model: 'given',
    embed: async (texts) => texts.map(unit),
    close: async () => {},
  };
  const givenTimes = await timesOf((query) => search(index, given, { query }));
  const computedTimes = await timesOf((query) => search(index, model, { query }));
  await model.close();
  const what = `search over ${tools.length.toLocaleString('en')} tools`;
  return {
    name: 'search',
    rows: [
      {
        label: `${what}, query vectors given, p95`,
        value: percentile(givenTimes, 0.95),
        unit: 'ms',
        goal: '<= 8 ms',
      },
      { label: `${what}, query vectors given, median`, value: percentile(givenTimes, 0.5), unit: 'ms' },
      {
        label: `${what}, query embedded, p95`,
        value: percentile(computedTimes, 0.95),
        unit: 'ms',
        goal: '<= 40 ms',
      },
      { label: `${what}, query embedded, median`, value: percentile(computedTimes, 0.5), unit: 'ms' },
      { label: 'building the index of words and names', value: indexMs, unit: 'ms' },
    ],
  };
}

/** Milliseconds of each query in each round. */
async function timesOf(run: (query: string) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const query of QUERIES) {
      const start = performance.now();
      await run(query);
      if (round >= 0) times.push(performance.now() - start);
    }
  }
  return times;
}

async function definitions(): Promise<ToolDefinition[]> {
  const file = process.env.PML_BENCH_DATA && join(process.env.PML_BENCH_DATA, 'toucan', 'tools.jsonl.gz');
  if (!file || !existsSync(file)) return madeUp();
  const rows = (await readJsonLines(file)) as ToolDefinition[];
  return rows.map((row) => ({ ...row, inputSchema: row.inputSchema ?? {} }));
}

/** Names of two words and descriptions of 20, from a vocabulary in which few words are frequent. */
function madeUp(): ToolDefinition[] {
  const random = createRandom(2);
  const known = QUERIES.flatMap((query) => query.toLowerCase().split(' '));
  const syllables = ['ba', 'ne', 'ti', 'ro', 'lu', 'sa', 'mo', 'ke'];
  const invented = Array.from({ length: 3000 }, () =>
    Array.from({ length: 3 }, () => syllables[random.int(syllables.length)]).join(''),
  );
  const vocabulary = random.shuffle([...new Set([...known, ...invented])]);
  const word = () => vocabulary[Math.floor(vocabulary.length * random.next() ** 3)]!;
  return Array.from({ length: TOOLS }, (_, i) => {
    const server = `server-${i % 300}`;
    const name = `${word()}_${word()}_${i}`;
    return {
      id: `${server}:${name}` as ToolId,
      server,
      name,
      description: Array.from({ length: 20 }, word).join(' '),
      inputSchema: { type: 'object', properties: { [word()]: {}, [word()]: {} } },
      definitionHash: String(i),
    };
  });
}
