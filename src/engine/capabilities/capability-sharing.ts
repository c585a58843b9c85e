import { identityOf } from '../../core/capabilities/template.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Ownership } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../caller.ts';
import { may } from '../people/roles.ts';
import type { Capability, Crypto } from '../ports.ts';
import type { CapabilityRegistry } from './capability-registry.ts';

/** The same code may be one user's own and, learned separately, everybody's: each has its own hash. */
export function hashFor(
  codeHash: string,
  { owner, visibility }: Ownership,
  { sha256 }: Pick<Crypto, 'sha256'>,
): string {
  return visibility === 'shared' ? codeHash : sha256(JSON.stringify([owner, codeHash]));
}

/** By its user, or by who manages capabilities. */
export function shared(
  capability: Capability,
  registry: CapabilityRegistry,
  crypto: Pick<Crypto, 'sha256'>,
  { who }: Pick<Caller, 'who'>,
): Capability {
  if (who && capability.owner !== who.user && !may(who, 'manage')) {
    throw new PmlError('forbidden', `${capability.slug} belongs to another user`, {
      hint: 'Its owner or an operator can share it.',
    });
  }
  return withOwnership(capability, { owner: capability.owner, visibility: 'shared' }, registry, crypto);
}

/** From now on it is that of one user alone; by default of the one whose run it was first learned from. */
export function keptPrivate(
  capability: Capability,
  user: string | undefined,
  registry: CapabilityRegistry,
  crypto: Pick<Crypto, 'sha256'>,
): Capability {
  const owner = user ?? capability.owner;
  if (owner === null) {
    throw new PmlError('invalid_argument', `${capability.slug} has no owner`, {
      hint: 'Name the owner: --user NAME, or "user" in the request.',
    });
  }
  return withOwnership(capability, { owner, visibility: 'private' }, registry, crypto);
}

function withOwnership(
  capability: Capability,
  ownership: Ownership,
  registry: CapabilityRegistry,
  crypto: Pick<Crypto, 'sha256'>,
): Capability {
  const identity = identityOf(capability.template.source, crypto.sha256);
  if (!identity.ok) throw new PmlError(identity.error.code, identity.error.message);
  const codeHash = hashFor(identity.value.codeHash, ownership, crypto);
  const twin = registry.byCodeHash(codeHash);
  if (twin && twin.id !== capability.id) {
    throw new PmlError('store_conflict', `The same code already exists as ${twin.slug}`, {
      hint: `Forget one of them, for example with "pml capability forget ${capability.slug}".`,
    });
  }
  return { ...capability, ...ownership, codeHash };
}
