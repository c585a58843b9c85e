import { RowMatrix } from '../../numeric/top-k.ts';
import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import type { ErrorType } from '../../vocabulary/trace-event.ts';

const DEFAULTS = {
  /** Number of newest runs that are remembered by intent: 6 MB of vectors at 384 dimensions. */
  capacity: 4096,
  /** Most similar runs used, and the least cosine of their intents. */
  nearest: 50,
  least: 0.7,
  /** Number of nodes of a session that are the context of its next run, as in a search. */
  contextLength: 5,
  /** Number of sessions that are remembered, those used last. */
  sessions: 1000,
};

/** A run for an intent. */
export interface IntentRun {
  readonly nodes: ReadonlySet<NodeId>;
  readonly success: boolean;
}

/** An intent as a unit vector, with the model that made it: vectors of two models never mix. */
export interface EmbeddedIntent {
  readonly model: string;
  readonly vector: Float32Array;
}

/** A ring of the newest runs, searched by intent. */
export class IntentMemory {
  readonly #capacity: number;
  #model: string | undefined;
  #vectors: RowMatrix | undefined;
  #runs: IntentRun[] = [];
  #added = 0;

  constructor(capacity = DEFAULTS.capacity) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#runs.length;
  }

  add({ model, vector }: EmbeddedIntent, run: IntentRun): void {
    const vectors = this.#vectorsOf(model, vector.length) ?? this.#startOver(model, vector.length);
    const row = this.#added++ % this.#capacity;
    if (row === this.size) vectors.push(vector);
    else vectors.set(row, vector);
    this.#runs[row] = run;
  }

  /** The nearest runs whose intents have a cosine of at least .7. */
  similarTo({ model, vector }: EmbeddedIntent): IntentRun[] {
    const nearest = this.#vectorsOf(model, vector.length)?.nearest(vector, DEFAULTS.nearest) ?? [];
    return nearest.filter(({ score }) => score >= DEFAULTS.least).map(({ row }) => this.#runs[row]!);
  }

  #vectorsOf(model: string, dimension: number): RowMatrix | undefined {
    return model === this.#model && dimension === this.#vectors?.columns ? this.#vectors : undefined;
  }

  #startOver(model: string, dimension: number): RowMatrix {
    this.#model = model;
    this.#vectors = new RowMatrix(dimension);
    this.#runs = [];
    this.#added = 0;
    return this.#vectors;
  }
}

/** The state of a session before its next run. */
export interface SessionEnd {
  /** Distinct nodes, latest last. */
  readonly context: readonly NodeId[];
  /** How its last run failed; null if it did not. */
  readonly error: ErrorType | null;
}

const FRESH: SessionEnd = { context: [], error: null };

export class SessionEnds {
  /** Least recently used first. */
  readonly #ends = new Map<string, SessionEnd>();

  /** A run without a session has no context. */
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
