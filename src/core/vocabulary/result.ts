import type { ErrorShape } from './pml-error.ts';

export const RUN_STATUSES = ['success', 'error', 'approval_required', 'suggestion'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Failure of user code or of an upstream server is data: a run answers, it does not throw. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorShape };

export interface RunResult {
  readonly status: RunStatus;
  readonly runId: string;
  readonly traceId: string | null;
  readonly result?: unknown;
  readonly error?: ErrorShape;
}
