import type { ExecuteScope } from '../calls/execute-tool.ts';
import type { CapabilityRegistry } from '../capabilities/capability-registry.ts';
import type { ProgramCache } from './program.ts';

/** What running code needs besides what a single call does. */
export interface CodeScope extends ExecuteScope {
  readonly capabilities: CapabilityRegistry;
  readonly programs: ProgramCache;
}
