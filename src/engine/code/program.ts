import { LRUCache } from 'lru-cache';
import { type PreparedProgram, prepareProgram } from '../../core/structure/emit/prepare-program.ts';
import type { Capability, JsonObject } from '../ports.ts';
import type { FinishedCall } from './call-log.ts';

const DEFAULTS = {
  /** Programs kept; the least recently used goes first. */
  size: 200,
};

/** Code to run: an agent's own, or a capability's. */
export interface Program {
  readonly source: string;
  readonly args: JsonObject;
  /** Results of the tasks a plan's code task depends on. */
  readonly deps?: JsonObject;
  readonly timeoutMs?: number;
  /** The root of the run is this capability. */
  readonly capability?: Capability;
}

/** Where a program starts: at its beginning, or where it was paused. */
export interface ResumePoint {
  readonly seed: string;
  /** Of the guest's clock, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Approvals it holds. */
  readonly grants: readonly string[];
  readonly calls: readonly FinishedCall[];
}

/** The same code is prepared once, however often it runs. */
export interface ProgramCache {
  prepare(source: string): ReturnType<typeof prepareProgram>;
}

export function createProgramCache(size = DEFAULTS.size): ProgramCache {
  const known = new LRUCache<string, PreparedProgram>({ max: size });
  return {
    prepare(source) {
      const before = known.get(source);
      if (before) return { ok: true, value: before };
      const prepared = prepareProgram(source);
      if (prepared.ok) known.set(source, prepared.value);
      return prepared;
    },
  };
}
