import { LRUCache } from 'lru-cache';
import { type PreparedProgram, prepareProgram } from '../../core/structure/emit/prepare-program.ts';

const DEFAULTS = {
  /** Programs kept; the least recently used goes first. */
  size: 200,
};

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
