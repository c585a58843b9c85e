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
  const known = new Map<string, PreparedProgram>();
  return {
    prepare(source) {
      const before = known.get(source);
      if (before) known.delete(source);
      const prepared = before ? { ok: true as const, value: before } : prepareProgram(source);
      if (!prepared.ok) return prepared;
      known.set(source, prepared.value);
      const oldest = known.size > size ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return prepared;
    },
  };
}
