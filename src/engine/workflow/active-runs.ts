import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { RunLease, ToolResult } from '../ports.ts';

const DEFAULTS = {
  /** How long a run that is driven stays so without a sign of life. */
  leaseMs: 15_000,
  /** Calls whose results are remembered, the newest; to guess by, never to answer with. */
  remembered: 500,
  /** Longest such result, as JSON, in UTF-16 units. */
  valueLength: 64 * 1024,
  /** How long what ran ahead waits for an agent to decide, in milliseconds: it grows old. */
  keptMs: 60_000,
};

/** Why a process stops working on a run early. */
export type StopReason =
  /** Another drives the run, or it was ended. */
  | 'lost'
  /** The gateway ends; the run continues when it is back. */
  | 'closing';

export interface ActiveRun {
  readonly stopped: AbortSignal;
  why(): StopReason | null;
  stop(reason: StopReason): void;
  close(): void;
}

/** The runs this process is at work on. */
export interface ActiveRuns {
  readonly speculation: SpeculationMemory;
  open(runId: string): ActiveRun;
  /** Of an owner of its own: also within one process a run is driven once. */
  newLease(): RunLease;
  /** This process lost the run. */
  stop(runId: string): void;
  /** Lets all go and resolves when they are. */
  stopAll(): Promise<void>;
}

export function createActiveRuns(newOwner: () => string, leaseMs = DEFAULTS.leaseMs): ActiveRuns {
  const open = new Map<ActiveRun, { readonly runId: string; readonly closed: Promise<void> }>();
  let isClosing = false;
  return {
    speculation: createSpeculationMemory(),
    newLease: () => ({ owner: newOwner(), ttlMs: leaseMs }),
    open(runId) {
      const stopping = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      let why: StopReason | null = null;
      const active: ActiveRun = {
        stopped: stopping.signal,
        why: () => why,
        stop(reason) {
          why ??= reason;
          stopping.abort();
        },
        close() {
          open.delete(active);
          resolve();
        },
      };
      open.set(active, { runId, closed: promise });
      if (isClosing) active.stop('closing');
      return active;
    },
    stop(id) {
      for (const [active, { runId }] of open) if (runId === id) active.stop('lost');
    },
    async stopAll() {
      isClosing = true;
      const closing = [...open].map(([active, { closed }]) => {
        active.stop('closing');
        return closed;
      });
      await Promise.all(closing);
    },
  };
}

/** A call that was made before its turn. */
interface AheadCall {
  /** Of exactly this call. */
  readonly hash: string;
  /** Null where it failed or was given up. */
  readonly result: Promise<ToolResult | null>;
  /** Milliseconds, monotonic. */
  readonly startedAt: number;
}

export interface SpeculationFigures {
  /** Calls that ran ahead, and those of them whose result was used, since the gateway began. */
  readonly started: number;
  readonly used: number;
}

/** What running ahead needs to know beyond one drive of one run. */
export interface SpeculationMemory {
  figures(): SpeculationFigures;
  count(what: keyof SpeculationFigures): void;
  /** What work without effects gave last. */
  remember(hash: string, value: unknown): void;
  recall(hash: string): { readonly value: unknown } | undefined;
  /** For a run that waits for its agent to go on. */
  keep(runId: string, calls: ReadonlyMap<string, AheadCall>): void;
  takeUp(runId: string, now: number): Map<string, AheadCall>;
}

function createSpeculationMemory(): SpeculationMemory {
  const counts = { started: 0, used: 0 };
  const remembered = new LRUCache<string, { readonly value: unknown }>({ max: DEFAULTS.remembered });
  const kept = new Map<string, ReadonlyMap<string, AheadCall>>();
  return {
    figures: () => ({ ...counts }),
    count(what) {
      counts[what]++;
    },
    remember(hash, value) {
      remembered.delete(hash);
      if (canonicalJson(value).length > DEFAULTS.valueLength) return;
      remembered.set(hash, { value });
    },
    recall: (hash) => remembered.get(hash),
    keep(runId, calls) {
      if (calls.size > 0) kept.set(runId, calls);
    },
    takeUp(runId, now) {
      const isFresh = ({ startedAt }: AheadCall) => now - startedAt <= DEFAULTS.keptMs;
      const calls = [...(kept.get(runId) ?? [])].filter(([, call]) => isFresh(call));
      kept.delete(runId);
      // Runs nobody went on with.
      for (const [id, others] of kept) if (!others.values().some(isFresh)) kept.delete(id);
      return new Map(calls);
    },
  };
}
