import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Embedder } from '../../engine/ports.ts';
import {
  type EmbedReply,
  type EmbedRequest,
  MINILM,
  type MiniLmWorkerData,
  type ShareRequest,
} from './minilm-files.ts';

const DEFAULTS = {
  /** Texts of a request that is answered at once: a query and its clauses. A longer one is a catalogue. */
  texts: 32,
  /** Texts of a catalogue handed to a thread at a time. */
  chunk: 8,
  /** Threads at the most: the first answers queries, the second takes catalogues. */
  threads: 2,
  /** For so long after a query the first thread waits for more of them before it helps with a catalogue. */
  quietMs: 250,
  /** The second thread ends after so long without a catalogue, and gives its memory back. */
  idleMs: 10_000,
  /** After so long without any text the model goes, too: about 45 MB. The next text waits 0.1 s until it is read again. */
  restMs: 30_000,
  /** Megabytes of a thread's heap for what lives briefly: tokens and strings. The engine would take 32. */
  youngMegabytes: 2,
};

const WORKER = new URL('./minilm-worker.ts', import.meta.url);

/** Some texts of a catalogue, and what they become. */
interface Chunk {
  readonly texts: readonly string[];
  readonly vectors: PromiseWithResolvers<Float32Array>;
}

interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, PromiseWithResolvers<Float32Array>>;
  /** Whether it has a chunk of a catalogue. */
  isBusy: boolean;
}

/**
 * The built-in model on our own kernels, in worker threads that share one copy of the weights. The first thread starts
 * with the first text; the second with the first catalogue, where there is a second core, so that no query waits.
 */
export class MiniLmEmbedder implements Embedder {
  readonly model = 'pml-tools-1/int8';
  readonly dimension = MINILM.hidden;
  readonly #most: number;
  readonly #restMs: number;
  readonly #waiting: Chunk[] = [];
  #threads: Thread[] = [];
  /** Whether the first thread has answered, so the weights are where the others look for them. */
  #isLoaded = false;
  #lastQuery = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Runs out when nothing has been embedded for a while. */
  #quiet: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(
    threads: number = Math.min(DEFAULTS.threads, availableParallelism()),
    restMs: number = DEFAULTS.restMs,
  ) {
    this.#most = threads;
    this.#restMs = restMs;
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (this.#isClosed) throw new PmlError('embedding_unavailable', 'The embedding model has been closed');
    if (texts.length === 0) return [];
    try {
      return await this.#embed(texts);
    } finally {
      this.#restLater();
    }
  }

  async #embed(texts: readonly string[]): Promise<Float32Array[]> {
    if (texts.length <= DEFAULTS.texts) {
      this.#lastQuery = performance.now();
      return this.#cut(await this.#ask(this.#threadAt(0), texts));
    }
    const chunks: Chunk[] = [];
    for (let first = 0; first < texts.length; first += DEFAULTS.chunk) {
      chunks.push({
        texts: texts.slice(first, first + DEFAULTS.chunk),
        vectors: Promise.withResolvers<Float32Array>(),
      });
    }
    this.#waiting.push(...chunks);
    this.#handOut();
    const vectors = await Promise.all(chunks.map((chunk) => chunk.vectors.promise));
    return vectors.flatMap((flat) => this.#cut(flat));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
    this.#reject('The embedding model has been closed');
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  /** Gives each free thread a chunk of a catalogue; the first one only while nobody asks. */
  #handOut(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    if (this.#waiting.length === 0) {
      this.#timer = setTimeout(() => this.#endHelper(), DEFAULTS.idleMs).unref();
      return;
    }
    this.#threadAt(0);
    if (this.#isLoaded && this.#most > 1) this.#threadAt(1);
    for (const [i, thread] of this.#threads.entries()) {
      const quietIn = i === 0 && this.#threads.length > 1 ? this.#quietIn() : 0;
      if (thread.isBusy || this.#waiting.length === 0) continue;
      if (quietIn <= 0) this.#work(thread, this.#waiting.shift()!);
      else this.#timer = setTimeout(() => this.#handOut(), quietIn);
    }
  }

  #endHelper(): void {
    const helper = this.#threads[1];
    if (!helper || helper.isBusy) return;
    this.#threads.length = 1;
    void helper.worker.terminate();
  }

  #restLater(): void {
    if (this.#isClosed) return;
    this.#quiet ??= setTimeout(() => this.#giveBack(), this.#restMs).unref();
    this.#quiet.refresh();
  }

  /** Ends all threads, and with them goes the memory they share. What is under way begins the wait again. */
  #giveBack(): void {
    if (this.#waiting.length > 0 || this.#threads.some(({ pending }) => pending.size > 0)) return;
    const resting = this.#threads;
    this.#threads = [];
    this.#isLoaded = false;
    for (const { worker } of resting) void worker.terminate();
  }

  #quietIn(): number {
    return this.#lastQuery + DEFAULTS.quietMs - performance.now();
  }

  async #work(thread: Thread, { texts, vectors }: Chunk): Promise<void> {
    thread.isBusy = true;
    try {
      vectors.resolve(await this.#ask(thread, texts));
    } catch (thrown) {
      vectors.reject(thrown);
    }
    thread.isBusy = false;
    this.#handOut();
  }

  async #ask({ worker, pending }: Thread, texts: readonly string[]): Promise<Float32Array> {
    const id = ++this.#lastId;
    const reply = Promise.withResolvers<Float32Array>();
    pending.set(id, reply);
    // An idle worker does not keep the process alive, one at work does.
    worker.ref();
    worker.postMessage({ id, texts } satisfies EmbedRequest);
    return await reply.promise;
  }

  #threadAt(index: number): Thread {
    this.#threads[index] ??= this.#start(index);
    return this.#threads[index];
  }

  #start(index: number): Thread {
    const from = index > 0 ? this.#sharedMemory() : undefined;
    const data: MiniLmWorkerData = { thread: index, threads: this.#most, ...(from && { from }) };
    const worker = new Worker(WORKER, {
      name: 'pml-embedding',
      execArgv: [],
      workerData: data,
      transferList: from ? [from] : [],
      resourceLimits: { maxYoungGenerationSizeMb: DEFAULTS.youngMegabytes },
    });
    const thread: Thread = { worker, pending: new Map(), isBusy: false };
    worker.on('message', (reply: EmbedReply) => this.#settle(thread, reply));
    worker.on('error', (cause) => this.#fail(thread, 'The embedding worker failed', cause));
    worker.on('exit', () => this.#fail(thread, 'The embedding worker ended before it was done'));
    return thread;
  }

  /** Where another thread gets the memory of the first one from. */
  #sharedMemory(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#threads[0]!.worker.postMessage({ to: port1 } satisfies ShareRequest, [port1]);
    return port2;
  }

  #settle({ worker, pending }: Thread, reply: EmbedReply): void {
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if (pending.size === 0) worker.unref();
    if ('error' in reply) {
      waiting?.reject(new PmlError(reply.error.code, reply.error.message, reply.error));
      return;
    }
    this.#isLoaded = true;
    waiting?.resolve(reply.vectors);
  }

  /** Rejects all that wait and ends the other thread, whose weights it shares; the next text starts new ones. */
  #fail(thread: Thread, message: string, cause?: unknown): void {
    if (!this.#threads.includes(thread)) return;
    const others = this.#threads.filter((each) => each !== thread);
    this.#reject(message, cause);
    this.#threads = [];
    this.#isLoaded = false;
    for (const { worker } of others) void worker.terminate();
  }

  #reject(message: string, cause?: unknown): void {
    const error = new PmlError('embedding_unavailable', message, { cause });
    for (const { vectors } of this.#waiting.splice(0)) vectors.reject(error);
    for (const { pending } of this.#threads) {
      for (const waiting of pending.values()) waiting.reject(error);
      pending.clear();
    }
  }

  #cut(flat: Float32Array): Float32Array[] {
    return Array.from({ length: flat.length / this.dimension }, (_, i) =>
      flat.slice(i * this.dimension, (i + 1) * this.dimension),
    );
  }
}
