import type { exportCapability } from '../../../operations/export-capability.ts';
import type { listCapabilityRuns } from '../../../operations/list-capability-runs.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import type { searchCapabilities } from '../../../operations/search-capabilities.ts';

/** A capability that a search found. */
export type CapabilityHit = OutputOf<typeof searchCapabilities>['capabilities'][number];

export type CapabilityRuns = OutputOf<typeof listCapabilityRuns>;

/** An Agent Skill: what its folder is called, and its files by name. */
export type SkillFolder = OutputOf<typeof exportCapability>;
