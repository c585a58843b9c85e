// Written by scripts/fit-ranker.ts; do not edit.
import type { FusionWeights } from './fusion-term.ts';

export const SHIPPED_PRIOR: FusionWeights = null as never;
