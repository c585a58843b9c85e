import { Worker } from 'node:worker_threads';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { WireError, WorkerReply, WorkerRequest } from './pglite-worker.ts';

export interface QueryRows {
  readonly rows: unknown[];
  readonly affectedRows: number;
}

/** The asking side: numbers each question and pairs it with its answer. */
export interface PgliteClient {
  query(sql: string, params: readonly unknown[]): Promise<QueryRows>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(reply: WorkerReply): void;
  reject(error: Error): void;
}

const WORKER = new URL('./pglite-worker.ts', import.meta.url);

export async function startPglite(dataDir: string): Promise<PgliteClient> {
  const worker = new Worker(WORKER, { workerData: dataDir, execArgv: [] });
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let dead: Error | null = null;

  const die = (error: Error) => {
    dead ??= error;
    for (const { reject } of waiting.values()) reject(dead);
    waiting.clear();
  };

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (reply: WorkerReply) => {
      if (reply.kind === 'ready') return resolve();
      if (reply.kind === 'failed') return reject(toError(reply.error));
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.kind === 'error') asked?.reject(toError(reply.error));
      else asked?.resolve(reply);
    });
    worker.on('error', (error) => {
      die(error as Error);
      reject(error as Error);
    });
    worker.on('exit', (code) => {
      const error = new PmlError('store_unavailable', `The database thread ended (exit code ${code})`, {
        hint: 'Start PML again; everything that was acknowledged is on disk.',
      });
      die(error);
      reject(error);
    });
  }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });

  const ask = (message: WorkerRequest) =>
    new Promise<WorkerReply>((resolve, reject) => {
      if (dead) return reject(dead);
      waiting.set(message.id, { resolve, reject });
      worker.postMessage(message);
    });

  return {
    async query(sql, params) {
      const reply = await ask({ id: nextId++, kind: 'query', sql, params });
      return reply as WorkerReply & { kind: 'rows' };
    },
    async close() {
      if (!dead) await ask({ id: nextId++, kind: 'close' });
      await worker.terminate();
    },
  };
}

/** The SQLSTATE stays on the error: it is what tells a conflict from a failure. */
function toError(wire: WireError): Error {
  return Object.assign(new Error(wire.message), wire.code !== undefined && { code: wire.code });
}
