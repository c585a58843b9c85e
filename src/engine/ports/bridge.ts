/**
 * What the holder of a data dir offers to other processes: rooms of async methods,
 * reached by name (`store.traces.append`). Only what stands here can be called.
 */
export type RemoteProcedures = Readonly<Record<string, Readonly<Record<string, RemoteProcedure>>>>;

export interface RemoteProcedure {
  (...args: never[]): Promise<unknown>;
  /** Takes, as its last argument, a signal that ends when whoever asked has gone away. */
  readonly isCancellable?: true;
}

/** The other end: calls one method of one room of the holder. */
export interface Bridge {
  call(room: string, method: string, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}
