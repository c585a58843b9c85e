import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import type { StatisticsQuery, TraceStatistics } from './trace-statistics.ts';

const DEFAULTS = {
  /** Nodes: 68 bytes each. */
  entries: 4096,
};

export interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** hits / (hits + misses); 0 before anything was asked. */
  readonly hitRate: number;
}

/**
 * Remembers, for the nodes asked for last, the part of their statistics that only their own runs change.
 * A run that touches a node drops it; what depends on the query is worked out anew each time.
 */
export class CachedStatistics {
  readonly #statistics: TraceStatistics;
  readonly #entries: number;
  /** The one used longest ago first. */
  readonly #kept = new Map<NodeId, Float32Array>();
  #hits = 0;
  #misses = 0;

  constructor(statistics: TraceStatistics, entries = DEFAULTS.entries) {
    this.#statistics = statistics;
    this.#entries = entries;
  }

  get figures(): CacheFigures {
    const [hits, misses] = [this.#hits, this.#misses];
    return { hits, misses, hitRate: hits / Math.max(1, hits + misses) };
  }

  add(trace: ExecutionTrace): ReadonlySet<NodeId> {
    const touched = this.#statistics.add(trace);
    for (const node of touched) this.#kept.delete(node);
    return touched;
  }

  /** [17], a copy of the caller's own. */
  vector(node: NodeId, query: StatisticsQuery): Float32Array {
    return this.#statistics.complete(this.#lasting(node).slice(), node, query);
  }

  #lasting(node: NodeId): Float32Array {
    const known = this.#kept.get(node);
    if (known) this.#hits++;
    else this.#misses++;
    const lasting = known ?? this.#statistics.lasting(node);
    this.#kept.delete(node);
    this.#kept.set(node, lasting);
    if (this.#kept.size > this.#entries) this.#kept.delete(this.#kept.keys().next().value!);
    return lasting;
  }
}
