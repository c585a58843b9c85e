import type { Intrinsics } from './intrinsics.ts';

/** Takes the times itself: a guest has no clock to tell them by. */
export interface HooksNative {
  /** An operation begins within `depth` others. False: no more marks are wanted from this run. */
  begin(depth: number): boolean;
  finish(depth: number, site: number, success: boolean): void;
  decide(site: number, taken: string): boolean;
}

export interface GuestHooks {
  call(site: number, receiver: unknown, name: PropertyKey, args: readonly unknown[]): unknown;
  test(site: number, value: unknown, label?: string): unknown;
}

/** By site: the operation's name, null for a decision. */
export type SiteNames = readonly (string | null)[];

/**
 * `$pml`, by which a prepared program tells of its own operations and decisions. An operation is told only
 * when the function called is the language's own. Past `maxPerSite` a site is silent and costs nothing.
 */
export function createGuestHooks(
  use: Intrinsics,
  native: HooksNative,
  sites: SiteNames,
  maxPerSite: number,
): GuestHooks {
  const { apply, freeze, isOperation } = use;
  const told = { __proto__: null } as unknown as Record<number, number>;
  let isSilent = false;
  let depth = 0;

  const wants = (site: number, isDecision: boolean): boolean => {
    if (isSilent || !(site >= 0 && site < sites.length)) return false;
    if ((sites[site] === null) !== isDecision) return false;
    const times = told[site] ?? 0;
    // The one beyond the limit still crosses over, so that the other side knows of it.
    if (times > maxPerSite) return false;
    told[site] = times + 1;
    return true;
  };

  const timed = (site: number, fn: unknown, receiver: unknown, args: readonly unknown[]): unknown => {
    const mine = depth;
    if (!native.begin(mine)) {
      isSilent = true;
      return apply(fn as () => unknown, receiver, args as []);
    }
    depth = mine + 1;
    let success = false;
    try {
      const result = apply(fn as () => unknown, receiver, args as []);
      success = true;
      return result;
    } finally {
      depth = mine;
      native.finish(mine, site, success);
    }
  };

  return freeze({
    __proto__: null,
    call(site: number, receiver: unknown, name: PropertyKey, args: readonly unknown[]): unknown {
      const fn = (receiver as Record<PropertyKey, unknown>)[name];
      if (typeof fn !== 'function') throw new use.TypeError(`${use.String(name)} is not a function`);
      const operation = sites[site];
      const isTold = typeof operation === 'string' && isOperation(operation, name as string, fn);
      return isTold && wants(site, false) ? timed(site, fn, receiver, args) : apply(fn, receiver, args as []);
    },
    test(site: number, value: unknown, label?: string): unknown {
      if (!wants(site, true)) return value;
      const taken = label === undefined ? (value ? 'true' : 'false') : use.String(label);
      if (!native.decide(site, taken)) isSilent = true;
      return value;
    },
  }) as GuestHooks;
}
