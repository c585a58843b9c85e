import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { somethingFits, type TextScores } from '../../core/retrieval/text-scores.ts';
import type { Embedder } from '../../engine/ports.ts';
import { CachedEmbedder, createEmbedder } from './create-embedder.ts';
import { MiniLmEmbedder } from './minilm-embedder.ts';
import { readMiniLmFiles } from './minilm-files.ts';
import { createTokenizer, MiniLmModel, modelMemory } from './minilm-model.ts';

/** Runs a module in a process of its own; what it prints. */
function printed(code: string): string {
  const module = new URL('./create-embedder.ts', import.meta.url);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `import { createEmbedder } from '${module}';\n${code}`],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

describe('createEmbedder', () => {
  test('[EMB-4] loads nothing before the first text', () => {
    const output = printed(`
      process.on('worker', () => console.log('started'));
      const embedder = createEmbedder({ kind: 'minilm' });
      await new Promise(setImmediate);
      console.log(embedder.model, embedder.dimension);
      await embedder.embed(['text']);
      await embedder.close();
    `);
    expect(output).toBe('pml-tools-1/int8 384\nstarted');
  });

  test('[EMB-4] does not keep an idle process alive', () => {
    const output = printed(`
      const [vector] = await createEmbedder({ kind: 'minilm' }).embed(['text']);
      console.log(vector.length);
    `);
    expect(output).toBe('384');
  });

  test('[EMB-21] the built-in model is the one that the thresholds were fitted for', () => {
    const { model } = createEmbedder({ kind: 'minilm' });
    const far = { nearest: [0], named: new Set<number>() } as unknown as TextScores;
    // Without thresholds of its own, a model finds that something always fits.
    expect(somethingFits(far, model)).toBe(false);
    expect(somethingFits(far, 'another')).toBe(true);
  });

  test('[EMB-9] takes an endpoint as it is configured', () => {
    const embedder = createEmbedder({
      kind: 'openai',
      url: 'http://localhost:1/v1',
      model: 'some-model',
      dimension: 1536,
      apiKey: null,
    });
    expect(embedder).toMatchObject({ model: 'openai/some-model', dimension: 1536 });
  });

  test('[EMB-8] takes a model of the Hugging Face Hub', () => {
    const embedder = createEmbedder({ kind: 'transformers', model: 'Xenova/bge-m3' });
    expect(embedder).toMatchObject({ model: 'transformers/Xenova/bge-m3', dimension: 1024 });
  });
});

/** Notes every request that reaches the model. */
function noting(inner: Embedder) {
  const requests: string[][] = [];
  const model: Embedder = {
    ...inner,
    embed: (texts) => {
      requests.push([...texts]);
      return inner.embed(texts);
    },
  };
  return { model, requests };
}

test('[EMB-7] a recently used text is not embedded again, alone or among others, twice in one call or at the same time', async () => {
  const inner = createMemoryEmbedder();
  const { model, requests } = noting(inner);
  const cached = new CachedEmbedder(model);
  await Promise.all([cached.embed(['a', 'b']), cached.embed(['b', 'c', 'c'])]);
  const texts = ['c', 'd', 'a', 'd'];
  expect(await cached.embed(texts)).toEqual(await inner.embed(texts));
  expect(requests).toEqual([['a', 'b'], ['c'], ['d']]);
  expect(cached).toMatchObject({ model: inner.model, dimension: inner.dimension });
});

test('[EMB-7] the least recently used text is forgotten first', async () => {
  const { model, requests } = noting(createMemoryEmbedder());
  const cached = new CachedEmbedder(model, 2);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cached.embed([text]);
  expect(requests.flat()).toEqual(['a', 'b', 'c', 'b']);
});

test('[EMB-7] a request larger than the cache is answered in full', async () => {
  const inner = createMemoryEmbedder();
  const texts = ['a', 'b', 'c', 'd', 'e'];
  expect(await new CachedEmbedder(inner, 2).embed(texts)).toEqual(await inner.embed(texts));
});

test('[EMB-16] a failure is not remembered', async () => {
  const inner = createMemoryEmbedder();
  let fails = true;
  const cached = new CachedEmbedder({
    ...inner,
    embed: async (texts) => {
      if (fails) throw new Error('out of reach');
      return await inner.embed(texts);
    },
  });
  await expect(cached.embed(['a', 'b'])).rejects.toThrow('out of reach');
  fails = false;
  expect(await cached.embed(['a'])).toEqual(await inner.embed(['a']));
});

test('[EMB-17] writing into a vector does not change what others get', async () => {
  const inner = createMemoryEmbedder();
  const cached = new CachedEmbedder(inner);
  const [mine] = await cached.embed(['a']);
  mine!.fill(0);
  expect(await cached.embed(['a'])).toEqual(await inner.embed(['a']));
});

const embedder = new MiniLmEmbedder();

afterAll(() => embedder.close());

/** Vectors that an independent PyTorch run of the same weights in double precision gives. */
const reference = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/minilm-reference.json', import.meta.url), 'utf8'),
) as { rows: { text: string; vector: number[] }[] };

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  return product / Math.sqrt(aa * bb);
}

describe('the built-in model', () => {
  test('[EMB-1] gives the reference vectors, cosine >= 0.9999 on all 40', async () => {
    const vectors = await embedder.embed(reference.rows.map(({ text }) => text));
    expect(vectors).toHaveLength(40);
    for (const [i, { text, vector }] of reference.rows.entries()) {
      expect(cosine(vectors[i]!, vector), text).toBeGreaterThanOrEqual(0.9999);
    }
  });

  test('[EMB-1] gives the same vectors with and without SIMD, to the last bit', async () => {
    const files = await readMiniLmFiles();
    const tokens = ['', 'commit my changes', '读取文件的内容'].map(createTokenizer(files));
    const [simd, scalar] = (['simd', 'scalar'] as const).map((path) =>
      new MiniLmModel(files, { memory: modelMemory(1, path), thread: 0 }, path).embed(tokens),
    );
    expect(scalar).toEqual(simd);
  });

  test('[EMB-22] releases its memory when it is idle, and loads the model again when needed', async () => {
    const ended: Promise<unknown>[] = [];
    const hear = (worker: Worker) => void ended.push(once(worker, 'exit'));
    process.on('worker', hear);
    const resting = new MiniLmEmbedder(1, 20);
    try {
      const before = await resting.embed(['a text']);
      await ended[0];
      expect(await resting.embed(['a text'])).toEqual(before);
      expect(ended).toHaveLength(2);
    } finally {
      process.off('worker', hear);
      await resting.close();
    }
  });

  test('[EMB-22] the memory of the weights goes with the threads, before garbage is collected', () => {
    const embedder = new URL('./minilm-embedder.ts', import.meta.url);
    const freed = printed(`
      import { once } from 'node:events';
      import { MiniLmEmbedder } from '${embedder}';
      const ended = [];
      process.on('worker', (worker) => ended.push(once(worker, 'exit')));
      const resting = new MiniLmEmbedder(2, 500);
      await resting.embed(Array.from({ length: 70 }, (_, i) => 'text ' + i));
      const before = process.memoryUsage.rss();
      const awake = setInterval(() => {}, 100);
      await Promise.all(ended);
      clearInterval(awake);
      console.log(ended.length, before - process.memoryUsage.rss());
      await resting.close();
    `);
    const [threads, bytes] = freed.split(' ').map(Number);
    expect(threads).toBe(2);
    expect(bytes).toBeGreaterThan(24_000_000);
  });

  test('[EMB-15] splits a catalogue between two threads, in order, and keeps the first free for queries', async () => {
    const two = new MiniLmEmbedder(2);
    const one = new MiniLmEmbedder(1);
    const texts = Array.from({ length: 70 }, (_, i) => `tool number ${i}`);
    const [query] = await two.embed(['a query']);
    const [shared, alone] = await Promise.all([two.embed(texts), one.embed(texts)]);
    expect(shared).toEqual(alone);
    expect(await one.embed(['a query'])).toEqual([query]);
    await Promise.all([two.close(), one.close()]);
  });

  test('[EMB-2] gives a text the same vector, to the last bit, alone and among others', async () => {
    const texts = reference.rows.map(({ text }) => text);
    const together = await embedder.embed(texts);
    const reversed = (await embedder.embed(texts.toReversed())).reverse();
    expect(reversed).toEqual(together);
    expect(await embedder.embed([texts[21]!])).toEqual([together[21]]);
  });

  test('[EMB-2] gives no vectors for no texts', async () => {
    expect(await embedder.embed([])).toEqual([]);
  });

  test('[EMB-3] reads 256 tokens of a text, [CLS] and [SEP] among them', async () => {
    const words = (count: number) =>
      Array.from({ length: count }, (_, i) => (i % 2 ? 'river' : 'stone')).join(' ');
    const [within, full, beyond] = await embedder.embed([
      words(253),
      words(254),
      `${words(254)} volcano volcano`,
    ]);
    expect(beyond).toEqual(full);
    expect(within).not.toEqual(full);
  });

  test.each([
    ['nothing', ''],
    ['blanks', ' \n\t '],
    ['emoji', '🚀👩‍👩‍👧‍👦🏳️‍🌈'],
    ['Arabic', 'ابحث عن ملف في المجلد'],
    ['Chinese', '读取文件的内容'],
    ['control characters', 'a\u0000b\u001b[31m'],
    ['half a surrogate pair', 'text \ud83d'],
    ['marks of the tokenizer', '[CLS] [SEP] [PAD] [MASK] [UNK]'],
    ['one endless word', 'x'.repeat(100_000)],
    ['a megabyte', 'All work and no play makes Jack a dull boy. '.repeat(25_000)],
  ])('[EMB-3] gives a unit vector to %s', async (_, text) => {
    const [vector] = await embedder.embed([text]);
    expect(vector).toHaveLength(embedder.dimension);
    expect(vector!.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5);
  });

  test('[EMB-3] similar texts get similar vectors', async () => {
    const [read, open, bake] = await embedder.embed([
      'read the contents of a file',
      'open a document and show its text',
      'bake a chocolate cake',
    ]);
    expect(cosine(read!, open!)).toBeGreaterThan(cosine(read!, bake!) + 0.2);
  });

  test('[EMB-5] answers a query before a catalogue that was requested earlier', async () => {
    const finished: string[] = [];
    const catalogue = Array.from({ length: 120 }, (_, i) => `tool number ${i} that does this and that`);
    await Promise.all([
      embedder.embed(catalogue).then(() => finished.push('catalogue')),
      embedder.embed(['a query']).then(() => finished.push('query')),
    ]);
    expect(finished).toEqual(['query', 'catalogue']);
  });

  test('[EMB-4] leaves the event loop free while it works', async () => {
    let turns = 0;
    let isDone = false;
    const work = embedder.embed(reference.rows.map(({ text }) => `${text} again`)).then(() => {
      isDone = true;
    });
    while (!isDone) {
      turns++;
      await new Promise(setImmediate);
    }
    await work;
    expect(turns).toBeGreaterThan(100);
  });
});

test('[EMB-6] a failing worker rejects pending requests, and the next text starts another worker', async () => {
  const other = new MiniLmEmbedder();
  const poison = 42 as unknown as string;
  const waiting = [other.embed([poison]), other.embed(['fine'])];
  for (const outcome of await Promise.allSettled(waiting)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'embedding_unavailable' } });
  }
  expect(await other.embed(['fine'])).toEqual(await embedder.embed(['fine']));
  await other.close();
});

test('[EMB-6] closing ends pending work, and nothing starts afterwards', async () => {
  const other = new MiniLmEmbedder();
  const late = expect(other.embed(['late'])).rejects.toMatchObject({ code: 'embedding_unavailable' });
  await other.close();
  await late;
  await expect(other.embed(['later'])).rejects.toMatchObject({ code: 'embedding_unavailable' });
});
