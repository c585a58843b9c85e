import { splitToolId, type ToolId } from '../vocabulary/ids.ts';
import type { KeyScope, ScopeRules, UsageLimit } from '../vocabulary/key-scope.ts';
import { matchesAny, matchesAnyCase, matchesGlob } from './decide.ts';

/** For what a server has besides tools: one of whose tools none may be used may not be used either. */
export function mayUseServer(scope: KeyScope | undefined, server: string): boolean {
  if (!scope) return true;
  const { tools, servers, within } = scope;
  const ids = `${server}:`;
  const isDenied = tools.deny.some((glob) => matchesAnyCase(glob, `${ids}*`));
  return (
    isWithin(servers, server) &&
    !isDenied &&
    tools.allow.some((glob) => canBegin(glob, ids)) &&
    mayUseServer(within, server)
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

/** Both hold: `inner`, and what it is narrowed from. */
export function narrowed(outer: KeyScope | undefined, inner: KeyScope | undefined): KeyScope | undefined {
  if (!outer || !inner) return inner ?? outer;
  return { ...inner, within: narrowed(outer, inner.within)! };
}

/** Whether there is anything that this scope may not use. */
export function hidesTools(scope: KeyScope | undefined): boolean {
  if (!scope) return false;
  const isFull = ({ allow, deny }: ScopeRules) => allow.includes('*') && deny.length === 0;
  return !isFull(scope.tools) || !isFull(scope.servers) || hidesTools(scope.within);
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
