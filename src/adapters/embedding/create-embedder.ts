import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Embedder, EmbeddingSettings } from '../../engine/ports.ts';
import { type EmbedReply, type EmbedRequest, MINILM } from './minilm-messages.ts';
import { OpenAiEmbedder } from './openai-embedder.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const DEFAULTS = {
  /** The queries of many sessions and their clauses: 1.5 MB with MiniLM, 4 MB at 1024 dimensions. */
  entries: 1024,
};

/** The configured model behind a cache. Nothing is loaded or reached before the first text. */
export function createEmbedder(settings: EmbeddingSettings): Embedder {
  return new CachedEmbedder(modelOf(settings));
}

function modelOf(settings: EmbeddingSettings): Embedder {
  switch (settings.kind) {
    case 'minilm':
      return new MiniLmEmbedder();
    case 'transformers':
      return new TransformersEmbedder(settings.model);
    case 'openai':
      return new OpenAiEmbedder(settings);
  }
}

/**
 * Remembers the vectors of the texts used last. A text that is being embedded is asked for once,
 * all concurrent callers; a failure is not remembered.
 */
export class CachedEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #cache: LRUCache<string, Promise<Float32Array>>;

  constructor(inner: Embedder, entries: number = DEFAULTS.entries) {
    this.#inner = inner;
    this.#cache = new LRUCache({ max: entries });
  }

  get model(): string {
    return this.#inner.model;
  }

  get dimension(): number {
    return this.#inner.dimension;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const distinct = [...new Set(texts)];
    const known = new Map(distinct.map((text) => [text, this.#cache.get(text)]));
    const missing = distinct.filter((text) => known.get(text) === undefined);
    for (const [text, vector] of this.#request(missing)) known.set(text, vector);
    const vectors = await Promise.all(texts.map((text) => known.get(text)!));
    // Copies: a caller may write into its own.
    return vectors.map((vector) => vector.slice());
  }

  async close(): Promise<void> {
    this.#cache.clear();
    await this.#inner.close();
  }

  /** One request for all of them; each text's share of the answer is remembered by itself. */
  #request(texts: readonly string[]): [string, Promise<Float32Array>][] {
    if (texts.length === 0) return [];
    const batch = this.#inner.embed(texts);
    return texts.map((text, i) => {
      const vector = batch.then((vectors) => vectors[i]!);
      this.#cache.set(text, vector);
      vector.catch(() => {
        if (this.#cache.peek(text) === vector) this.#cache.delete(text);
      });
      return [text, vector];
    });
  }
}

const WORKER = new URL('./minilm-worker.ts', import.meta.url);

/** all-MiniLM-L6-v2 on our own kernels, in a worker thread that starts with the first text. */
export class MiniLmEmbedder implements Embedder {
  readonly model = 'all-MiniLM-L6-v2/uint8';
  readonly dimension = MINILM.hidden;
  readonly #pending = new Map<number, PromiseWithResolvers<Float32Array>>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.#isClosed) throw new PmlError('embedding_unavailable', 'The embedding model has been closed');
    if (texts.length === 0) return [];
    const id = ++this.#lastId;
    const reply = Promise.withResolvers<Float32Array>();
    this.#pending.set(id, reply);
    this.#worker ??= this.#start();
    // An idle worker does not keep the process alive, one at work does.
    this.#worker.ref();
    this.#worker.postMessage({ id, texts } satisfies EmbedRequest);
    const flat = await reply.promise;
    return texts.map((_, i) => flat.slice(i * this.dimension, (i + 1) * this.dimension));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(WORKER, { name: 'pml-embedding', execArgv: [] });
    worker.on('message', (reply: EmbedReply) => this.#settle(reply));
    worker.on('error', (cause) => this.#fail(worker, 'The embedding worker failed', cause));
    worker.on('exit', () => this.#fail(worker, 'The embedding worker ended before it was done'));
    return worker;
  }

  #settle(reply: EmbedReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ('vectors' in reply) pending?.resolve(reply.vectors);
    else pending?.reject(new PmlError(reply.error.code, reply.error.message, reply.error));
  }

  /** Rejects all pending requests; the next text starts a new worker. */
  #fail(worker: Worker, message: string, cause?: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    for (const pending of this.#pending.values()) {
      pending.reject(new PmlError('embedding_unavailable', message, { cause }));
    }
    this.#pending.clear();
  }
}
