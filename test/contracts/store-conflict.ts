import { expect } from 'vitest';
import type { PmlError } from '../../src/core/vocabulary/pml-error.ts';

/** What a store says to a write that contradicts what it has. */
export const conflict = expect.objectContaining({ code: 'store_conflict' } satisfies Partial<PmlError>);
