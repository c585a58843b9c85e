/** What a text costs to embed: on the wasm kernels, and by the same forward pass in plain JavaScript. */
import { MiniLmEmbedder } from '../src/adapters/embedding/create-embedder.ts';
import { readMiniLmFiles } from '../src/adapters/embedding/minilm-files.ts';
import { MINILM } from '../src/adapters/embedding/minilm-messages.ts';
import { createTokenizer, MiniLmModel } from '../src/adapters/embedding/minilm-model.ts';
import { createPlainMiniLm } from './plain/plain-minilm.ts';
import type { BenchReport } from './run.ts';

const TEXT =
  'Search the web for recent news about a company and send the most important headlines to my whole team';
const TOKENS = 22;
const CATALOGUE = 64;
const WARM_UP = 10;
const ROUNDS = 25;

export async function bench(): Promise<BenchReport> {
  const { loadMs, perToolMs } = await measureEmbedder();

  const files = await readMiniLmFiles();
  const tokens = createTokenizer(files)(`${TEXT} 1`);
  if (tokens.length !== TOKENS) throw new Error(`the text has ${tokens.length} tokens, not ${TOKENS}`);
  const model = new MiniLmModel(files.tensors, MINILM.maxTokens);
  const plain = createPlainMiniLm(files.tensors);
  assertAlike(model.embed([tokens])[0]!, plain(tokens));

  const wasmTimes: number[] = [];
  const plainTimes: number[] = [];
  // Interleaved, so that a noisy moment of the machine hits both.
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const wasmMs = time(() => model.embed([tokens]));
    const plainMs = time(() => plain(tokens));
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
        goal: '>= 8x',
      },
      { label: `${TOKENS} tokens, plain JavaScript`, value: plainMs, unit: 'ms' },
      { label: 'first text: worker, weights, tokenizer', value: loadMs, unit: 'ms' },
      { label: `a tool of a catalogue (${TOKENS} tokens, ${CATALOGUE} tools)`, value: perToolMs, unit: 'ms' },
    ],
  };
}

/** As the gateway uses it: through the worker thread. */
async function measureEmbedder(): Promise<{ loadMs: number; perToolMs: number }> {
  const embedder = new MiniLmEmbedder();
  const loadAt = performance.now();
  await embedder.embed([TEXT]);
  const loadMs = performance.now() - loadAt;
  const texts = Array.from({ length: CATALOGUE }, (_, i) => `${TEXT} ${i}`);
  await embedder.embed(texts);
  const catalogueAt = performance.now();
  await embedder.embed(texts);
  const perToolMs = (performance.now() - catalogueAt) / CATALOGUE;
  await embedder.close();
  return { loadMs, perToolMs };
}

function assertAlike(a: Float32Array, b: Float32Array): void {
  const cosine = a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  if (cosine < 0.99999) throw new Error(`the two forward passes differ: cosine ${cosine}`);
}

function time(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
