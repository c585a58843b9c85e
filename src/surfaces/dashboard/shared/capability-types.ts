import type { TraceSummary } from './api-types.ts';

/** A capability that a search found. */
export interface CapabilityHit {
  readonly slug: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: unknown;
  /** Likeness in meaning, times reliability. */
  readonly score: number;
  readonly success_rate: number;
  readonly uses: number;
  readonly tools_used: readonly string[];
  readonly tools_sequence: readonly string[];
}

export interface CapabilityRuns {
  /** As far as they are still kept. */
  readonly learned_from: readonly TraceSummary[];
  /** Newest first. */
  readonly calls: readonly TraceSummary[];
}

/** An Agent Skill: what its folder is called, and its files by name. */
export interface SkillFolder {
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}
