/** Between the thread that asks and the thread PGlite runs in. */
export type WorkerRequest =
  | { readonly id: number; readonly kind: 'query'; readonly sql: string; readonly params: readonly unknown[] }
  | { readonly id: number; readonly kind: 'close' };

export type WorkerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'rows'; readonly id: number; readonly rows: unknown[]; readonly affectedRows: number }
  | { readonly kind: 'closed'; readonly id: number }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError };

/** What of a PostgreSQL error survives the crossing: the message and the SQLSTATE. */
export interface WireError {
  readonly message: string;
  readonly code?: string;
}
