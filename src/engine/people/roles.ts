import type { Ownership, Principal, Role } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../caller.ts';
import type { Settings } from '../ports.ts';

/**
 * - `read`: search, graph, capabilities, servers, figures, and the runs one may see
 * - `run`: tools, code and plans, by MCP or HTTP, and going on with one's own runs
 * - `decide`: approve, reject and edit what waits for a person
 * - `manage`: train, change capabilities, read the audit log
 * - `see_all`: runs of others that are private
 * - `bridge`: what is for the data dir's owner alone: keys, logins to servers, imports, backups
 */
export const RIGHTS = ['read', 'run', 'decide', 'manage', 'see_all', 'bridge'] as const;

export type Right = (typeof RIGHTS)[number];

/** Who may do what, for every surface. */
const ROLES: Readonly<Record<Role, ReadonlySet<Right>>> = {
  viewer: new Set(['read']),
  agent: new Set(['read', 'run']),
  operator: new Set(['read', 'run', 'decide', 'manage', 'see_all']),
  owner: new Set(RIGHTS),
};

export function may({ role }: Pick<Principal, 'role'>, right: Right): boolean {
  return ROLES[role].has(right);
}

export function maySee(who: Pick<Principal, 'role' | 'user'>, what: Ownership): boolean {
  return what.visibility === 'shared' || what.owner === who.user || may(who, 'see_all');
}

/** For the store: whose private runs to list besides those that all may see; undefined: everybody's. */
export function visibleTo(who: Pick<Principal, 'role' | 'user'>): { readonly visibleTo?: string } {
  return may(who, 'see_all') ? {} : { visibleTo: who.user };
}

/** Every MCP client is an agent, whatever else its key allows: no agent decides for a person. */
export function asAgent(who: Principal): Principal {
  return { ...who, role: 'agent' };
}

/** Whose a new run is. What PML runs by itself is nobody's, and stays as private as what it runs again. */
export function ownershipOf({ sharing }: Pick<Settings, 'sharing'>, { who }: Caller): Ownership {
  return { owner: who?.user ?? null, visibility: sharing.traces };
}

/** Whether the caller may go on with a run: its own, nobody's, or anybody's for who decides about them. */
export function isOwn({ who }: Caller, { owner }: Ownership): boolean {
  return !who || owner === null || owner === who.user || may(who, 'decide');
}

/** Continues a run as its owner, with the owner's credentials, also when another user says so. */
export function onBehalf(caller: Caller, { owner }: Ownership): Caller {
  if (owner === null) return caller;
  const who = caller.who ?? { name: owner, role: 'agent' as const, keyId: null };
  return { ...caller, who: { ...who, user: owner } };
}

/** Where values of earlier calls are known: the connection, or without one all that a user does over the API. */
export function sessionOf({ sessionId }: Pick<Caller, 'sessionId'>, user: string | null): string {
  return sessionId === null ? `user ${user ?? ''}` : `session ${sessionId}`;
}
