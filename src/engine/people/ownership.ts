import type { Ownership } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../gateway.ts';
import type { Settings } from '../ports.ts';
import { may } from './roles.ts';

/** Whose a new run is. What PML runs by itself is nobody's, and stays as private as what it runs again. */
export function ownershipOf({ sharing }: Pick<Settings, 'sharing'>, { who }: Caller): Ownership {
  return { owner: who?.user ?? null, visibility: sharing.traces };
}

/** Whether the caller may go on with a run: its own, nobody's, or anybody's for who decides about them. */
export function isOwn({ who }: Caller, { owner }: Ownership): boolean {
  return !who || owner === null || owner === who.user || may(who, 'decide');
}

/** Goes on with a run for the user it is of, whoever says so: with their credentials, and as theirs. */
export function onBehalf(caller: Caller, { owner }: Ownership): Caller {
  if (owner === null) return caller;
  const who = caller.who ?? { name: owner, role: 'agent' as const, keyId: null };
  return { ...caller, who: { ...who, user: owner } };
}
