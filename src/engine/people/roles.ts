import { matchesAny, matchesAnyCase, matchesGlob } from '../../core/policy/decide.ts';
import { splitToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type {
  KeyScope,
  Lane,
  Ownership,
  Principal,
  Role,
  ScopeRules,
  UsageLimit,
} from '../../core/vocabulary/principal.ts';
import type { Caller } from '../caller.ts';
import type { Settings, WorkflowRun } from '../ports.ts';

/**
 * - `read`: search, graph, capabilities, servers, figures, and the runs one may see
 * - `run`: tools, code and plans, by MCP or HTTP, and going on with one's own runs
 * - `decide`: approve, reject and edit what waits for a person
 * - `manage`: train, change capabilities, read the audit log
 * - `see_all`: runs of others that are private
 * - `keys`: create, scope and revoke keys; for the data dir's owner alone, in a browser too
 * - `bridge`: what is for the owner alone and for no browser: logins to servers, imports, backups
 */
export const RIGHTS = ['read', 'run', 'decide', 'manage', 'see_all', 'keys', 'bridge'] as const;

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

/** Whether two requests come from the same caller: a client does not share what its user's key has opened. */
export function isSameCaller(a: Principal, b: Principal): boolean {
  return a.keyId === b.keyId && a.clientId === b.clientId;
}

/** Whether there are tools that it may not see: then it sees nothing that was not made for such keys. */
export function isRestricted({ scope }: Pick<Principal, 'scope'>): boolean {
  return hidesTools(scope);
}

/** Whether there is anything that this scope may not use. */
export function hidesTools(scope: KeyScope | undefined): boolean {
  if (!scope) return false;
  const isFull = ({ allow, deny }: ScopeRules) => allow.includes('*') && deny.length === 0;
  return !isFull(scope.tools) || !isFull(scope.servers) || hidesTools(scope.within);
}

/** For what a server has besides tools: one of whose tools none may be used may not be used either. */
export function mayReach(who: Pick<Principal, 'scope'> | undefined, server: string): boolean {
  if (!who?.scope) return true;
  const { tools, servers, within } = who.scope;
  const ids = `${server}:`;
  const isDenied = tools.deny.some((glob) => matchesAnyCase(glob, `${ids}*`));
  return (
    isWithin(servers, server) &&
    !isDenied &&
    tools.allow.some((glob) => canBegin(glob, ids)) &&
    (within === undefined || mayReach({ scope: within }, server))
  );
}

/** Whether the glob matches anything that begins so. */
function canBegin(glob: string, start: string): boolean {
  for (let length = 0; length <= glob.length; length++)
    if (matchesGlob(glob.slice(0, length), start)) return true;
  return false;
}

/** Without a scope there is nothing that one may not use. */
export function mayUseTool(scope: KeyScope | undefined, id: ToolId): boolean {
  if (!scope) return true;
  const { server } = splitToolId(id);
  return isWithin(scope.servers, server) && isWithin(scope.tools, id) && mayUseTool(scope.within, id);
}

/** A rule that restricts applies to every spelling; a rule that grants, only to its own. */
function isWithin({ allow, deny }: ScopeRules, name: string): boolean {
  return matchesAny(allow, name) && !deny.some((glob) => matchesAnyCase(glob, name));
}

/** Null: the tool is within the scope. The same words whether there is such a tool or not. */
export function outOfScope(
  who: Pick<Principal, 'name' | 'scope'> | undefined,
  tool: ToolId,
): ErrorShape | null {
  if (mayUseTool(who?.scope, tool)) return null;
  return {
    code: 'forbidden',
    message: `${tool} is outside what key "${who!.name}" may use`,
    hint: 'Use what pml_search_tools finds. The owner can widen the scope of the key with "pml keys scope", or that of this client under "clients" in pml.json.',
  };
}

/** Every MCP client is an agent, whatever else its key allows: no agent decides for a person. */
export function asAgent(who: Principal): Principal {
  return { ...who, role: 'agent' };
}

/**
 * What the configuration says of a client of this name; the first that matches applies. It only narrows what the key
 * may do, for clients name themselves.
 */
export function asClient(
  who: Principal,
  clients: NonNullable<Settings['clients']>,
  name: string | undefined,
): { readonly who: Principal; readonly lane: Lane | null } {
  const found = clients.find((one) => name !== undefined && matchesGlob(one.name, name));
  if (!found) return { who, lane: null };
  const { scope } = found;
  const seen = hidesTools(scope) ? { ...who, scope: narrowed(who.scope, scope)! } : who;
  return { who: seen, lane: scope.lane };
}

/** Both hold: `inner`, and what it is narrowed from. */
export function narrowed(outer: KeyScope | undefined, inner: KeyScope | undefined): KeyScope | undefined {
  if (!outer || !inner) return inner ?? outer;
  return { ...inner, within: narrowed(outer, inner.within)! };
}

/** Those of the wider scopes, too. */
export function limitsOf(scope: KeyScope | undefined): readonly UsageLimit[] {
  return scope ? [...scope.limits, ...limitsOf(scope.within)] : [];
}

/** The least of all scopes; null: no loop is broken. */
export function loopsOf(scope: KeyScope | undefined): number | null {
  const all = scope ? [scope.loops, loopsOf(scope.within)].filter((one) => one !== null) : [];
  return all.length === 0 ? null : Math.min(...all);
}

/** Whose a new run is. What PML runs by itself is nobody's, and stays as private as what it runs again. */
export function ownershipOf({ sharing }: Pick<Settings, 'sharing'>, { who }: Caller): Ownership {
  return { owner: who?.user ?? null, visibility: sharing.traces };
}

/** Whether the caller may go on with a run: its own, nobody's, or anybody's for who decides about them. */
export function isOwn(caller: Caller, run: Begun): boolean {
  const { who } = caller;
  if (!who) return true;
  return isOfItsKey(caller, run) && (run.owner === null || run.owner === who.user || may(who, 'decide'));
}

/** A key that may not use everything has to do with what it began itself: other runs show what it is not to see. */
export function isOfItsKey({ who }: Pick<Caller, 'who'>, { begunWith }: Pick<Begun, 'begunWith'>): boolean {
  return !hidesTools(who?.scope) || begunWith?.keyId === who!.keyId;
}

type Begun = Ownership & Pick<WorkflowRun, 'begunWith'>;

/** The key and scope with which a run that begins now is continued later, by anybody. */
export function begunWith({ who }: Pick<Caller, 'who'>): Pick<WorkflowRun, 'begunWith'> {
  if (!who || (who.keyId === null && !who.scope)) return {};
  return { begunWith: { keyId: who.keyId, ...(who.scope && { scope: who.scope }) } };
}

/**
 * Continues a run as its owner, with the owner's credentials and the scope of its key, also when another user says so:
 * who takes up a run did not choose what it calls.
 */
export function onBehalf(caller: Caller, { owner, begunWith }: Begun): Caller {
  if (owner === null) return caller;
  const { scope: _, ...who } = caller.who ?? { name: owner, role: 'agent' as const, keyId: null };
  return { ...caller, who: { ...who, user: owner, ...begunWith } };
}

/** Where values of earlier calls are known: the connection, or without one all that a user does over the API. */
export function sessionOf({ sessionId }: Pick<Caller, 'sessionId'>, user: string | null): string {
  return sessionId === null ? `user ${user ?? ''}` : `session ${sessionId}`;
}
