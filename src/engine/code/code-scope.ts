import type { CapabilityBook } from '../capability-book.ts';
import type { ExecuteScope } from '../execute-tool.ts';
import type { ProgramCache } from './program-cache.ts';

/** What running code needs besides what a single call does. */
export interface CodeScope extends ExecuteScope {
  readonly capabilities: CapabilityBook;
  readonly programs: ProgramCache;
}
