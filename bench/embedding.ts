/**
 * What a text costs to embed: on the wasm kernels, and by the same forward pass in plain JavaScript; what a catalogue
 * costs, and what searches lose while one is embedded. `--data DIR` uses the definitions of DIR/toucan/tools.jsonl.gz.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { type MiniLmFiles, readMiniLmFiles } from '../src/adapters/embedding/minilm-files.ts';
import { createTokenizer, MiniLmModel, modelMemory } from '../src/adapters/embedding/minilm-model.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { toolText } from '../src/core/retrieval/words.ts';
import type { ToolId } from '../src/core/vocabulary/ids.ts';
import type { ToolDefinition } from '../src/core/vocabulary/tool-definition.ts';
import { createSearchIndex, type SearchIndex, search } from '../src/engine/catalogue/search.ts';
import { readJsonLines } from '../src/evaluation/data-set.ts';
import { createPlainMiniLm } from './plain/plain-minilm.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { percentile } from './support/percentile.ts';

const TEXT =
  'Search the web for recent news about a company and send the most important headlines to my whole team';
const TOKENS = 22;
/** Definitions of the catalogue that the figures are for, and how many are embedded to tell. */
const CATALOGUE = 5256;
const SAMPLE = 512;
const CORES = 2;
/** Definitions embedded and stored at a time, as by the gateway. */
const BATCH = 64;
/** Searches at a fixed pace, by turns alone and beside a catalogue that is embedded. */
const SEARCHES_PER_SECOND = 20;
const TURNS = 3;
const SECONDS_PER_TURN = 5;
const WARM_UP = 10;
const ROUNDS = 25;

export async function bench(): Promise<BenchReport> {
  const catalogueRows = await measureCatalogue();

  const files = await readMiniLmFiles();
  const tokens = createTokenizer(files)(`${TEXT} 1`);
  if (tokens.length !== TOKENS) throw new Error(`the text has ${tokens.length} tokens, not ${TOKENS}`);
  const model = new MiniLmModel(files, { memory: modelMemory(1), thread: 0 });
  const plain = createPlainMiniLm(tensorsOf(files));
  assertAlike(model.embed([tokens])[0]!, plain(tokens));

  const wasmTimes: number[] = [];
  const plainTimes: number[] = [];
  // Interleaved, so that noise of the machine affects both.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const wasmMs = cpuTime(() => model.embed([tokens]));
    const plainMs = cpuTime(() => plain(tokens));
    if (round < 0) continue;
    wasmTimes.push(wasmMs);
    plainTimes.push(plainMs);
  }
  const [wasmMs, plainMs] = [median(wasmTimes), median(plainTimes)];
  return {
    name: 'embedding',
    rows: [
      {
        label: `${TOKENS} tokens, wasm kernels`,
        value: wasmMs,
        unit: 'ms',
        ratio: plainMs / wasmMs,
        goal: '<= 8 ms',
      },
      { label: `${TOKENS} tokens, plain JavaScript`, value: plainMs, unit: 'ms' },
      ...catalogueRows,
    ],
  };
}

/** Through the worker threads, as the gateway does. */
async function measureCatalogue(): Promise<BenchRow[]> {
  const tools = await definitions();
  const texts = tools.map(toolText);
  const { rss } = process.memoryUsage();
  const embedder = new MiniLmEmbedder(CORES);
  const loadAt = performance.now();
  await embedder.embed([TEXT]);
  const loadMs = performance.now() - loadAt;
  const first = (process.memoryUsage().rss - rss) / 1e6;
  const usedBefore = process.cpuUsage();
  const catalogueAt = performance.now();
  const embedded = await embedder.embed(texts);
  const wallSeconds = (performance.now() - catalogueAt) / 1000;
  const { user, system } = process.cpuUsage(usedBefore);
  const cpuSeconds = (user + system) / 1e6;
  const both = (process.memoryUsage().rss - rss) / 1e6;
  const vectors = new WasmVectorIndex(embedder.dimension);
  for (const [i, { id }] of tools.entries()) vectors.set(id, embedded[i]!);
  const [alone, beside] = await measureSearches(createSearchIndex(tools, vectors), embedder, texts);
  await embedder.close();
  const whole = `${CATALOGUE.toLocaleString('en')} definitions`;
  const scale = CATALOGUE / tools.length;
  return [
    { label: 'first text: worker, weights, tokenizer', value: loadMs, unit: 'ms' },
    {
      label: `${whole}, processor time on ${CORES} cores, from ${tools.length}`,
      value: (cpuSeconds / CORES) * scale,
      unit: 's',
      goal: '<= 60 s',
    },
    { label: `${whole}, elapsed, from ${tools.length}`, value: wallSeconds * scale, unit: 's' },
    { label: 'memory of the model and the thread for queries', value: first, unit: 'MB', goal: '<= 60 MB' },
    { label: 'with the thread that embeds catalogues', value: both, unit: 'MB' },
    {
      label: `${SEARCHES_PER_SECOND} searches/s while definitions are embedded, p95`,
      value: percentile(beside, 0.95),
      unit: 'ms',
      ratio: percentile(alone, 0.95) / percentile(beside, 0.95),
      goal: '>= 0.5x',
    },
    { label: 'the same with nothing embedded, p95', value: percentile(alone, 0.95), unit: 'ms' },
  ];
}

/** Milliseconds of each search: alone, and beside a catalogue that is embedded. */
async function measureSearches(
  index: SearchIndex,
  embedder: MiniLmEmbedder,
  texts: readonly string[],
): Promise<[alone: number[], beside: number[]]> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    alone.push(...(await searchAtPace(index, embedder)));
    const stop = new AbortController();
    const renewal = renew(embedder, texts, stop.signal);
    beside.push(...(await searchAtPace(index, embedder)));
    stop.abort();
    await renewal;
  }
  return [alone, beside];
}

async function renew(embedder: MiniLmEmbedder, texts: readonly string[], signal: AbortSignal): Promise<void> {
  for (let first = 0; !signal.aborted; first = (first + BATCH) % texts.length)
    await embedder.embed(texts.slice(first, first + BATCH));
}

/** Each starts when its time has come, whether or not the one before is answered. */
async function searchAtPace(index: SearchIndex, embedder: MiniLmEmbedder): Promise<number[]> {
  const started = performance.now();
  const timed = async (query: string) => {
    const at = performance.now();
    await search(index, embedder, { query });
    return performance.now() - at;
  };
  const times: Promise<number>[] = [];
  for (let i = 0; i < SEARCHES_PER_SECOND * SECONDS_PER_TURN; i++) {
    await wait(Math.max(0, started + (1000 * i) / SEARCHES_PER_SECOND - performance.now()));
    times.push(timed(`${TEXT} ${i}`));
  }
  return await Promise.all(times);
}

/** A sample of real ones, spread over all servers, or made up. */
async function definitions(): Promise<ToolDefinition[]> {
  const folder = process.env.PML_BENCH_DATA;
  const rows: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>[] = folder
    ? ((await readJsonLines(join(folder, 'toucan', 'tools.jsonl.gz'))) as ToolDefinition[])
    : Array.from({ length: SAMPLE }, (_, i) => ({
        server: `server ${i % 40}`,
        name: `tool_${i}`,
        description: `${TEXT} ${i}`,
        inputSchema: { type: 'object' },
      }));
  const step = Math.floor(rows.length / SAMPLE);
  return Array.from({ length: SAMPLE }, (_, i) => {
    const row = rows[i * step]!;
    return { ...row, id: `definition:${i}` as ToolId, definitionHash: String(i) };
  });
}

function assertAlike(a: Float32Array, b: Float32Array): void {
  const cosine = a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  if (cosine < 0.99999) throw new Error(`the two forward passes differ: cosine ${cosine}`);
}

/** Of this thread alone, so that other work on the machine does not count. */
function cpuTime(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** The model's tensors as floats, read from the file by its list. */
function tensorsOf({ tensors }: MiniLmFiles): (name: string) => Float32Array {
  const data = readFileSync(new URL('../assets/embedder/weights.bin', import.meta.url));
  return (name) => {
    const { shape, dtype, offset } = tensors.find((entry) => entry.name === name)!;
    const [rows, columns] = [shape[0]!, shape[1] ?? 1];
    const floats = (at: number, count: number) =>
      new Float32Array(data.buffer.slice(data.byteOffset + at, data.byteOffset + at + 4 * count));
    if (dtype === 'float32') return floats(offset, rows);
    const scales = floats(offset + rows * columns, rows);
    return Float32Array.from(
      { length: rows * columns },
      (_, i) => data.readInt8(offset + i) * scales[Math.floor(i / columns)]!,
    );
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
