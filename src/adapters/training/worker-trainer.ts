import { Worker } from 'node:worker_threads';
import type { LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import type { Taken, Trained } from '../../core/learning/ranker/rank-learner.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Trainer, TrainerOptions } from '../../engine/ports.ts';
import type { TrainerReply, TrainerRequest, TrainerTask } from './training-worker.ts';

const WORKER = new URL('./training-worker.ts', import.meta.url);

const DEFAULTS = {
  /** Runs per message: copying them blocks the sender. */
  runs: 50,
  /** Of the thread's heap, for what lives briefly: by itself the engine takes more, and keeps it. */
  youngMegabytes: 8,
};

interface Pending extends PromiseWithResolvers<unknown> {
  readonly onProgress?: (progress: LearningProgress) => void;
}

/** A trainer in a worker thread, which starts with the first task. */
export class WorkerTrainer implements Trainer {
  readonly #options: TrainerOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: TrainerOptions) {
    this.#options = options;
  }

  async offer(...[tools, capabilities]: Parameters<Trainer['offer']>): Promise<void> {
    await this.#ask({ do: 'offer', tools, capabilities });
  }

  async recall(runs: Parameters<Trainer['recall']>[0]): Promise<void> {
    for (let first = 0; first < runs.length; first += DEFAULTS.runs) {
      await this.#ask({ do: 'recall', runs: runs.slice(first, first + DEFAULTS.runs) });
    }
  }

  async weights(): Promise<readonly number[]> {
    return (await this.#ask({ do: 'weights' })) as readonly number[];
  }

  async load(params: Uint8Array | null): Promise<void> {
    await this.#ask({ do: 'load', params });
  }

  async take(run: Parameters<Trainer['take']>[0]): Promise<Taken | null> {
    return (await this.#ask({ do: 'take', run })) as Taken | null;
  }

  async train({ onProgress, signal }: Parameters<Trainer['train']>[0] = {}): Promise<Trained> {
    if (signal?.aborted) throw new PmlError('cancelled', 'The training was stopped');
    const id = this.#lastId + 1;
    const stop = () => this.#send({ stop: id });
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return (await this.#ask({ do: 'train' }, onProgress)) as Trained;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #ask(task: TrainerTask, onProgress?: (progress: LearningProgress) => void): Promise<unknown> {
    if (this.#isClosed) throw new PmlError('cancelled', 'The trainer has been closed');
    const id = ++this.#lastId;
    const pending: Pending = { ...Promise.withResolvers<unknown>(), ...(onProgress && { onProgress }) };
    this.#pending.set(id, pending);
    this.#worker ??= this.#start();
    // Only a busy worker keeps the process alive.
    this.#worker.ref();
    this.#send({ id, task });
    return pending.promise;
  }

  #send(request: TrainerRequest): void {
    this.#worker?.postMessage(request);
  }

  #start(): Worker {
    const worker = new Worker(WORKER, {
      name: 'pml-training',
      execArgv: [],
      workerData: this.#options,
      resourceLimits: { maxYoungGenerationSizeMb: DEFAULTS.youngMegabytes },
    });
    worker.on('message', (reply: TrainerReply) => this.#hear(reply));
    worker.on('error', (cause) => this.#fail(worker, 'The training thread failed', cause));
    worker.on('exit', () => this.#fail(worker, 'The training thread ended before it finished'));
    return worker;
  }

  #hear(reply: TrainerReply): void {
    const pending = this.#pending.get(reply.id);
    if ('progress' in reply) {
      pending?.onProgress?.(reply.progress);
      return;
    }
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ('error' in reply) {
      pending?.reject(new PmlError(reply.error.code, reply.error.message, reply.error));
    } else pending?.resolve(reply.result);
  }

  /**
   * Rejects all pending requests. The thread's state is lost: nothing more is learned until the next start.
   */
  #fail(worker: Worker, message: string, cause?: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#isClosed = true;
    for (const pending of this.#pending.values()) {
      pending.reject(new PmlError('internal', message, { cause }));
    }
    this.#pending.clear();
  }
}
