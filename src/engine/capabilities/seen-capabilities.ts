import type { Ownership } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../gateway.ts';
import { maySee } from '../people/roles.ts';
import { type CapabilityBook, readBook } from './capability-book.ts';

/** The book as this caller may read it: what is private to others is not there. PML itself reads all. */
export function seenBy(book: CapabilityBook, { who }: Pick<Caller, 'who'>): CapabilityBook {
  return who ? narrowed(book, (one) => maySee(who, one)) : book;
}

/** The same for what all may read. */
export function sharedOnly(book: CapabilityBook): CapabilityBook {
  return narrowed(book, ({ visibility }) => visibility === 'shared');
}

/** What a run may call is what its caller may see. */
export function asSeenBy<S extends { readonly capabilities: CapabilityBook }>(
  scope: S,
  caller: Pick<Caller, 'who'>,
): S {
  return caller.who ? { ...scope, capabilities: seenBy(scope.capabilities, caller) } : scope;
}

function narrowed(book: CapabilityBook, isSeen: (one: Ownership) => boolean): CapabilityBook {
  return { ...book, ...readBook(() => book.all().filter(isSeen)) };
}
