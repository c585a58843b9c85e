import type { Store } from './store.ts';
/**
 * What the holder of a data dir offers to other processes: rooms of async methods,
 * reached by name (`store.traces.append`). Only what stands here can be called.
 */
export type RemoteProcedures = Readonly<Record<string, Readonly<Record<string, RemoteProcedure>>>>;

export interface RemoteProcedure {
  (...args: never[]): Promise<unknown>;
  /** Takes, as its last argument, a signal that aborts when the caller has gone away. */
  readonly isCancellable?: true;
}

/** The other end: calls one method of one room of the holder. */
export interface Bridge {
  call(room: string, method: string, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

export type StoreRooms = Omit<Store, 'close'>;

/** Every method of the store that another process may call; the type refuses a list that is not complete. */
export const STORE_METHODS: {
  readonly [R in keyof StoreRooms]: { readonly [M in keyof StoreRooms[R]]: true };
} = {
  servers: { put: true, list: true, remove: true },
  tools: {
    put: true,
    get: true,
    list: true,
    retire: true,
    propose: true,
    proposed: true,
    remove: true,
    observeOutputs: true,
    observedOutputs: true,
  },
  embeddings: { put: true, list: true },
  graph: { read: true, position: true, apply: true, remove: true, replaceAll: true },
  capabilities: { put: true, get: true, find: true, findByCodeHash: true, list: true, remove: true },
  traces: {
    append: true,
    appendAll: true,
    get: true,
    list: true,
    scan: true,
    count: true,
    tally: true,
    setPriorities: true,
    setIntentEmbedding: true,
    recall: true,
    near: true,
    remove: true,
  },
  rollup: { read: true, traces: true, due: true, fold: true, tidy: true },
  episodes: { append: true, list: true },
  runs: {
    create: true,
    update: true,
    get: true,
    list: true,
    claim: true,
    renew: true,
    saveTasks: true,
    release: true,
    abandoned: true,
  },
  approvals: { request: true, settle: true, use: true, get: true, list: true },
  rankerParams: { save: true, list: true, remove: true },
  suggestions: { put: true, get: true, settle: true, open: true, doubted: true, counts: true, expire: true },
  keys: { create: true, get: true, findByHash: true, list: true, revoke: true },
  audit: { append: true, list: true },
};
