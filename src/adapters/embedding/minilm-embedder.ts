import { Worker } from 'node:worker_threads';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Embedder } from '../../engine/ports.ts';
import { type EmbedReply, type EmbedRequest, MINILM } from './minilm-messages.ts';

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
