import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { CodeResumePoint } from './task-state.ts';

/** How one attempt at a step ended. */
export type Attempt =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorShape; readonly errorType: ErrorType | null }
  | { readonly kind: 'waiting'; readonly approval: Approval; readonly standing?: CodeResumePoint };

export interface AttemptOptions {
  readonly arguments: JsonObject;
  /** Hashes of calls a person has allowed. */
  readonly grants: readonly string[];
  readonly standing?: CodeResumePoint | undefined;
  /** Writes down that it begins; nothing has an effect before. */
  readonly begin: () => Promise<void>;
}
