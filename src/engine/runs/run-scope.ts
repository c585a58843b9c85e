import type { Caller } from '../caller.ts';
import type { Admissions } from '../calls/admissions.ts';
import type { Approvals } from '../calls/approvals.ts';
import type { CapabilityRegistry } from '../capabilities/capability-registry.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type { ProgramCache } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Settings } from '../ports.ts';
import type { TraceQueue } from '../traces/trace-queue.ts';
import type { ToolCall } from './run-requests.ts';

/** What a run works with, as it is at the time. */
export interface RunScope {
  readonly ports: FlowPorts;
  readonly approvals: Approvals;
  readonly admissions: Admissions;
  readonly traces: TraceQueue;
  readonly settings: Settings;
  /** Finds the tool, listing its server first if need be; throws when there is none. */
  readonly findTool: (call: ToolCall, caller?: Pick<Caller, 'who'>) => Promise<CatalogueEntry>;
  readonly capabilities: CapabilityRegistry;
  readonly programs: ProgramCache;
}
