import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { ToolResult } from '../ports.ts';

const DEFAULTS = {
  /** Calls whose results are remembered, the newest; to guess by, never to answer with. */
  remembered: 500,
  /** Longest such result, as JSON, in UTF-16 units. */
  valueLength: 64 * 1024,
  /** How long what ran ahead waits for an agent to decide, in milliseconds: it grows old. */
  keptMs: 60_000,
};

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

export function createSpeculationMemory(): SpeculationMemory {
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
