import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import type { ErrorType } from '../../vocabulary/trace-event.ts';

const DEFAULTS = {
  /** Nodes of a session that are the context of its next run, as in a search. */
  contextLength: 5,
  /** Sessions that are remembered, those used last. */
  sessions: 1000,
};

/** How a session stands before its next run. */
export interface SessionEnd {
  /** Distinct nodes, latest last. */
  readonly context: readonly NodeId[];
  /** How its last run failed; null if it did not. */
  readonly error: ErrorType | null;
}

const FRESH: SessionEnd = { context: [], error: null };

export class SessionEnds {
  /** The one used longest ago first. */
  readonly #ends = new Map<string, SessionEnd>();

  /** A run without a session has nothing before it. */
  before({ sessionId }: ExecutionTrace): SessionEnd {
    return (sessionId !== null && this.#ends.get(sessionId)) || FRESH;
  }

  add(trace: ExecutionTrace, nodes: readonly NodeId[]): void {
    const { sessionId, success, errorType } = trace;
    if (sessionId === null) return;
    const used = new Set(nodes);
    const earlier = this.before(trace).context.filter((node) => !used.has(node));
    this.#ends.delete(sessionId);
    this.#ends.set(sessionId, {
      context: [...earlier, ...used].slice(-DEFAULTS.contextLength),
      error: success ? null : (errorType ?? 'UNKNOWN'),
    });
    if (this.#ends.size > DEFAULTS.sessions) this.#ends.delete(this.#ends.keys().next().value!);
  }
}
