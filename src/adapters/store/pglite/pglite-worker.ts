import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, types } from '@electric-sql/pglite';

/** Messages from the calling thread to PGlite's thread. */
export type WorkerRequest =
  | { readonly id: number; readonly kind: 'query'; readonly sql: string; readonly params: readonly unknown[] }
  | { readonly id: number; readonly kind: 'close' };

export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'rows'; readonly id: number; readonly rows: unknown[]; readonly affectedRows: number }
  | { readonly kind: 'closed'; readonly id: number }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError };

/** The parts of a PostgreSQL error that are passed on: message and SQLSTATE. */
export interface WireError {
  readonly message: string;
  readonly code?: string;
}

/**
 * PostgreSQL touches its whole cache when it starts, and PGlite's default is 128 MB. A small one costs little: what it
 * does not hold, the system's own cache of files does. One connection needs no room for a hundred.
 */
const SERVER_SETTINGS = ['shared_buffers=8MB', 'wal_buffers=1MB', 'max_connections=3'];

/**
 * PostgreSQL has functions that take the optimising compiler 20 MB, and by default four threads compile at once: the C
 * library hardly returns what they used. One at a time needs half of that.
 */
setFlagsFromString('--wasm-num-compilation-tasks=1');

/**
 * Milliseconds without a query after which garbage is collected. The engine collects when it allocates, so that texts
 * and rows of the last queries, 20 MB after many runs, would stay until others need the room.
 */
const QUIET_MS = 5_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

/** PGlite computes on the thread that calls it, so it gets its own. */
const port = parentPort;
if (!port) throw new Error('pglite-worker runs in a worker thread only');
const reply = (message: WorkerReply) => port.postMessage(message);

try {
  const db = await PGlite.create({
    dataDir: workerData as string,
    parsers: {
      // Sequence numbers stay far below 2^53.
      [types.INT8]: Number,
      // PGlite's own parser works digit by digit, and a start reads thousands of vectors.
      [types.BYTEA]: (text) => Uint8Array.fromHex(text.slice('\\x'.length)),
    },
    startParams: [...PGlite.defaultStartParams, ...SERVER_SETTINGS.flatMap((each) => ['-c', each])],
    serializers: { [types.BYTEA]: (bytes: Uint8Array) => `\\x${bytes.toHex()}` },
  });
  const quiet = setTimeout(collectGarbage, QUIET_MS).unref();
  port.on('message', (request: WorkerRequest) => {
    quiet.refresh();
    void answer(db, request).then(reply);
  });
  reply({ kind: 'ready' });
} catch (error) {
  reply({ kind: 'failed', error: toWire(error) });
}

async function answer(db: PGlite, request: WorkerRequest): Promise<WorkerReply> {
  const { id } = request;
  try {
    if (request.kind === 'close') {
      await db.close();
      return { kind: 'closed', id };
    }
    const { rows, affectedRows } = await db.query(request.sql, [...request.params]);
    return { kind: 'rows', id, rows, affectedRows: affectedRows ?? 0 };
  } catch (error) {
    return { kind: 'error', id, error: toWire(error) };
  }
}

function toWire(error: unknown): WireError {
  const { message, code } = error as { message?: string; code?: unknown };
  return { message: message ?? String(error), ...(typeof code === 'string' && { code }) };
}
