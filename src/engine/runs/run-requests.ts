import type { Plan } from '../../core/vocabulary/plan.ts';
import type { StandingScope } from '../people/standing-approvals.ts';
import type { JsonObject } from '../ports.ts';

export interface ToolCall {
  /** In any spelling `parseToolId` takes. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
  /** More fields of the request, passed upstream untouched (the transparent endpoint's). */
  readonly meta?: JsonObject;
  readonly extraParams?: JsonObject;
  readonly passInputRequired?: boolean;
  readonly passTask?: boolean;
  /** Calls a tool that its server does not list, too: refusing it is the server's business. */
  readonly evenIfUnlisted?: boolean;
}

export interface CodeCall {
  readonly code: string;
  /** What the code sees as `args`. */
  readonly arguments?: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

export interface CapabilityCall {
  /** Slug or alias. */
  readonly capability: string;
  readonly arguments: JsonObject;
  readonly intent?: string;
  readonly timeoutMs?: number;
}

export interface IntentCall {
  readonly intent: string;
  /** Values of the inputs that the plan will have. */
  readonly arguments?: JsonObject;
}

/** A program as a plan. */
export interface PlannedCode {
  readonly plan: Plan;
  /** What the program returns, with references to the tasks' results; absent where it returns nothing. */
  readonly result?: unknown;
}

export type RunAction = 'status' | 'continue' | 'replan' | 'resume' | 'abort';

export interface CallEdit {
  /** Absent: the only one that waits. */
  readonly task?: string;
  readonly arguments: JsonObject;
  readonly by: string;
}

export interface ReplayOptions {
  /** `cassette`: recorded calls stand in for the servers; `live`: the servers are asked again. */
  readonly against: 'cassette' | 'live';
  /** Names or paths of fields that may differ. */
  readonly ignore?: readonly string[];
}

/** What a person allows with an approval besides the call that waits. */
export interface BeyondTheCall {
  /** Changed definitions of these tools are accepted for good, not for these calls alone. */
  readonly acceptDefinition?: boolean;
  /** Later calls of this kind are approved, too, until somebody revokes it. */
  readonly always?: StandingScope;
}

/** Where a run is taken up again, and what is changed there. */
export interface ForkRequest {
  /** `filesystem:read_file#0`, or the trace id of the call. */
  readonly at: string;
  /** Absent: the call is made again as it was. */
  readonly set?: { readonly result: unknown } | { readonly arguments: JsonObject };
  /** Instead of the program that ran; what it does before the call must be the same. */
  readonly code?: string;
}
