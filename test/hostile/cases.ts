import { BOMBS } from './cases/bombs.ts';
import { ESCAPES } from './cases/escapes.ts';
import { FORGERIES } from './cases/forgeries.ts';
import { POLLUTION } from './cases/pollution.ts';
import type { HostileCase } from './hostile-case.ts';

export const HOSTILE_CASES: readonly HostileCase[] = [...ESCAPES, ...BOMBS, ...FORGERIES, ...POLLUTION];
