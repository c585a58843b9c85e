import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { CodeStanding } from './task-state.ts';

/** How one attempt at a step ended. */
export type Attempt =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorShape; readonly errorType: ErrorType | null }
  | { readonly kind: 'waiting'; readonly approval: Approval; readonly standing?: CodeStanding };

export interface AttemptOptions {
  readonly arguments: JsonObject;
  /** Hashes of calls a person has allowed. */
  readonly grants: readonly string[];
  readonly standing?: CodeStanding | undefined;
  /** Writes down that it begins; nothing has an effect before. */
  readonly begin: () => Promise<void>;
}
