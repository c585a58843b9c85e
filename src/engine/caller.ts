import type { RunOrigin } from '../core/vocabulary/execution-trace.ts';
import type { Principal } from '../core/vocabulary/principal.ts';
import type { TraceContext } from '../core/vocabulary/trace-context.ts';
import type { UpstreamClient, UpstreamProgress } from './ports.ts';

/** Who calls: the client connection a run came from, and how to reach the person behind it. */
export interface Caller {
  /** The client connection; null where there is none to speak of. */
  readonly sessionId: string | null;
  /** Asked what upstream servers ask meanwhile, and for approvals if it supports elicitation. */
  readonly client?: UpstreamClient;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: UpstreamProgress) => void;
  /** A result that was too large for an answer to this caller, for programs; throws if it is not stored any more. */
  readonly readResult?: (id: string) => unknown;
  /** Tells a person at once what is asked: nobody can answer while the call waits. */
  readonly isAtTerminal?: boolean;
  /** Who sits there, as the system calls them. */
  readonly terminalUser?: string;
  /** A person's doing, by terminal or API: decides where an agent may only ask. */
  readonly isPerson?: boolean;
  /** Who chose what runs; absent: the caller did. */
  readonly origin?: RunOrigin;
  /** The tools that a run which is repeated called: a program that does otherwise now calls no others. */
  readonly onlyTools?: ReadonlySet<string>;
  /** The user or key that was authenticated, with the scope it is held to; absent where PML itself calls. */
  readonly who?: Principal;
  /** The distributed trace that the request belongs to. */
  readonly trace?: TraceContext;
}
