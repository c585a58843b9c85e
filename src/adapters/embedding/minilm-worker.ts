/** The worker thread with the model, so that embedding a catalogue never blocks the gateway. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WasmMemory } from '../../core/numeric/matrices.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import {
  type EmbedReply,
  type EmbedRequest,
  MINILM,
  type MiniLmWorkerData,
  readMiniLmFiles,
  type ShareRequest,
} from './minilm-files.ts';
import { createTokenizer, MiniLmModel, modelMemory, type Tokens } from './minilm-model.ts';

/**
 * Tokens per batch. Larger batches are hardly faster per token, and a query that arrives while a catalogue is
 * embedded waits for the current batch.
 */
const DEFAULTS = { batchTokens: 128 };

interface Job {
  readonly id: number;
  readonly texts: readonly string[];
  readonly vectors: Float32Array<ArrayBuffer>;
  done: number;
}

interface Model {
  readonly dimension: number;
  tokenise(text: string): Tokens;
  embed(batch: readonly Tokens[]): Float32Array[];
}

const port = parentPort!;
let loading: Promise<MiniLmQueue> | undefined;
let isWorking = false;

let memory: WasmMemory | undefined;

port.on('message', async (request: EmbedRequest | ShareRequest) => {
  if ('to' in request) return share(request.to);
  const queue = await load(request.id);
  queue?.add(request);
  if (queue && !isWorking) await work(queue);
});

/** Reads the model once; a failure is reported to the caller, and the next request tries again. */
async function load(id: number): Promise<MiniLmQueue | undefined> {
  try {
    loading ??= loadQueue();
    return await loading;
  } catch (thrown) {
    loading = undefined;
    port.postMessage({ id, error: PmlError.from(thrown).toShape() } satisfies EmbedReply);
    return undefined;
  }
}

/** From thread to thread: were it known to the main thread, it would stay until garbage is collected there. */
function share(to: MessagePort): void {
  to.postMessage(memory);
  to.close();
}

async function loadQueue(): Promise<MiniLmQueue> {
  const { thread, threads, from } = workerData as MiniLmWorkerData;
  memory ??= from ? ((await once(from, 'message'))[0] as WasmMemory) : modelMemory(threads);
  const files = await readMiniLmFiles();
  const model = new MiniLmModel(files, { memory, thread });
  return new MiniLmQueue({
    dimension: MINILM.hidden,
    tokenise: createTokenizer(files),
    embed: (batch) => model.embed(batch),
  });
}

async function work(queue: MiniLmQueue): Promise<void> {
  isWorking = true;
  while (!queue.isEmpty) {
    const finished = queue.step();
    if (finished) port.postMessage(finished satisfies EmbedReply, [finished.vectors.buffer]);
    // Yields, so that new requests can arrive between two batches.
    await setImmediate();
  }
  isWorking = false;
}

/** Concurrent requests, split into batches; the request with the fewest texts left goes first. */
class MiniLmQueue {
  readonly #model: Model;
  readonly #jobs: Job[] = [];

  constructor(model: Model) {
    this.#model = model;
  }

  add({ id, texts }: EmbedRequest): void {
    this.#jobs.push({ id, texts, vectors: new Float32Array(texts.length * this.#model.dimension), done: 0 });
  }

  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Embeds one batch; returns the request it completed, if any. */
  step(): { readonly id: number; readonly vectors: Float32Array<ArrayBuffer> } | undefined {
    const job = this.#jobs.reduce((best, other) => (left(other) < left(best) ? other : best));
    for (const vector of this.#model.embed(this.#nextBatch(job))) {
      job.vectors.set(vector, job.done * this.#model.dimension);
      job.done++;
    }
    if (left(job) > 0) return undefined;
    this.#jobs.splice(this.#jobs.indexOf(job), 1);
    return { id: job.id, vectors: job.vectors };
  }

  #nextBatch({ texts, done }: Job): Tokens[] {
    const batch: Tokens[] = [];
    let total = 0;
    for (let i = done; i < texts.length; i++) {
      const tokens = this.#model.tokenise(texts[i]!);
      if (batch.length > 0 && total + tokens.length > DEFAULTS.batchTokens) break;
      batch.push(tokens);
      total += tokens.length;
    }
    return batch;
  }
}

function left({ texts, done }: Job): number {
  return texts.length - done;
}
