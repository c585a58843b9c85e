import type { Ownership } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../gateway.ts';
import { maySee } from '../people/roles.ts';
import { type CapabilityRegistry, readRegistry } from './capability-registry.ts';

/** The registry as this caller may read it: what is private to others is not there. PML itself reads all. */
export function seenBy(registry: CapabilityRegistry, { who }: Pick<Caller, 'who'>): CapabilityRegistry {
  return who ? narrowed(registry, (one) => maySee(who, one)) : registry;
}

/** The same for what all may read. */
export function sharedOnly(registry: CapabilityRegistry): CapabilityRegistry {
  return narrowed(registry, ({ visibility }) => visibility === 'shared');
}

/** What a run may call is what its caller may see. */
export function asSeenBy<S extends { readonly capabilities: CapabilityRegistry }>(
  scope: S,
  caller: Pick<Caller, 'who'>,
): S {
  return caller.who ? { ...scope, capabilities: seenBy(scope.capabilities, caller) } : scope;
}

function narrowed(registry: CapabilityRegistry, isSeen: (one: Ownership) => boolean): CapabilityRegistry {
  return { ...registry, ...readRegistry(() => registry.all().filter(isSeen)) };
}
