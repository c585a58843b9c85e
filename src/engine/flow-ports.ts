import type { FoundSecrets } from '../core/tracing/found-secrets.ts';
import type { LoopWatch } from './ports/process.ts';
import type {
  ChangeFeed,
  Clock,
  Crypto,
  Embedder,
  Logger,
  Sandbox,
  Store,
  TraceExporter,
  TraceJournal,
  Trainer,
  TrainerLock,
  Upstream,
  VectorIndex,
} from './ports.ts';
import type { EventLog } from './traces/event-log.ts';

/** What the flows are built on; the composition hands it over once. */
export interface FlowPorts {
  readonly store: Store;
  /** What other gateways on the same store do. */
  readonly changes: ChangeFeed;
  /** Its holder trains. */
  readonly trainerLock: TrainerLock;
  /** Keeps traces while the store cannot; null where the store is part of this process. */
  readonly journal: TraceJournal | null;
  readonly upstream: Upstream;
  readonly embedder: Embedder;
  readonly sandbox: Sandbox;
  /** Learns the ranker off the path of every answer. */
  readonly trainer: Trainer;
  /** Null when nobody wants the runs. */
  readonly exporter: TraceExporter | null;
  readonly emptyIndex: () => VectorIndex;
  readonly clock: Clock;
  readonly crypto: Crypto;
  readonly logger: Logger;
  /** Absent where nobody watches. */
  readonly loop?: LoopWatch;
  readonly events: EventLog;
  /** Hides secrets and cuts what is too large; applied before anything is stored or told. */
  readonly redact: (value: unknown, found?: FoundSecrets) => unknown;
  /** What was recognised as secret so far in the run these ports serve; absent where they serve no single run. */
  readonly found?: FoundSecrets;
  /** Sends JSON to an address of the configuration; rejects when it does not arrive. Absent: nobody is told. */
  readonly post?: (url: string, body: unknown, signal: AbortSignal) => Promise<void>;
  /** Resolves after so many milliseconds, or rejects when aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}
