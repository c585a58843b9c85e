import {
  fromSkillFiles,
  type ImportedCapability,
  toSkillFiles,
} from '../../core/capabilities/skill-document.ts';
import { isReserved, slugFor } from '../../core/capabilities/slug.ts';
import { identityOf } from '../../core/capabilities/template.ts';
import { isSlug } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ProgramCache } from '../code/program-cache.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Caller, CapabilityShelf } from '../gateway.ts';
import { recordSharing } from '../people/audit-trail.ts';
import type { Capability } from '../ports.ts';
import type { CapabilityBook } from './capability-book.ts';
import { keptPrivate, shared } from './capability-sharing.ts';
import { quarantined } from './count-uses.ts';
import { definitionsOf } from './learn-capability.ts';
import { seenBy } from './seen-capabilities.ts';

export interface ShelfParts {
  readonly ports: Pick<FlowPorts, 'clock' | 'crypto' | 'store'>;
  readonly capabilities: CapabilityBook;
  readonly programs: ProgramCache;
  readonly catalogue: () => Catalogue;
}

/** Whoever owns the data dir, at a terminal. */
const ANYBODY: Pick<Caller, 'who'> = {};

/** What people do with capabilities besides running them. */
export function createCapabilityShelf(parts: ShelfParts): CapabilityShelf {
  const { ports, capabilities: book, catalogue } = parts;
  const change = (slug: string, work: (capability: Capability) => Capability, caller = ANYBODY) =>
    book.change(async () => {
      const next = { ...work(seenBy(book, caller).known(slug)), updatedAt: ports.clock.now() };
      return await book.put(next);
    });

  const recorded = async (changing: Promise<Capability>, caller: Pick<Caller, 'who'>) => {
    const changed = await changing;
    await recordSharing(ports, changed, caller);
    return changed;
  };

  return {
    list: async (caller = ANYBODY) => seenBy(book, caller).all(),
    show: async (slug, caller = ANYBODY) => seenBy(book, caller).known(slug),
    share: (slug, caller = ANYBODY) =>
      recorded(
        change(slug, (capability) => shared(capability, book, ports.crypto, caller), caller),
        caller,
      ),
    keepPrivate: (slug, user, caller = ANYBODY) =>
      recorded(
        change(slug, (capability) => keptPrivate(capability, user, book, ports.crypto)),
        caller,
      ),
    rename: (slug, to) => change(slug, (capability) => renamed(capability, to, book)),
    quarantine: (slug, reason) =>
      change(slug, (capability) =>
        reason === null ? released(capability, catalogue()) : quarantined(capability, reason),
      ),
    forget: (slug) => book.change(async () => await book.remove(book.known(slug).id)),
    export: async (slug, caller = ANYBODY) => toSkillFiles(seenBy(book, caller).known(slug)),
    import: (files) =>
      book.change(async () => {
        const read = fromSkillFiles(files);
        if (!read.ok) {
          const { code, message, hint } = read.error;
          throw new PmlError(code, message, hint === undefined ? {} : { hint });
        }
        return await book.put(taken(parts, read.value));
      }),
  };
}

/** The old name goes on calling it. */
function renamed(capability: Capability, to: string, book: CapabilityBook): Capability {
  if (!isSlug(to) || isReserved(to)) {
    throw new PmlError('invalid_argument', `"${to}" cannot name a capability`, {
      hint: 'Use lower-case letters, digits and "_", beginning with a letter; words of the language are taken.',
    });
  }
  const holder = book.find(to);
  if (holder && holder.id !== capability.id) {
    throw new PmlError('store_conflict', `${to} is the name of another capability`, {
      hint: holder.slug === to ? 'Choose another name.' : `It is a former name of ${holder.slug}.`,
    });
  }
  const aliases = new Set([...capability.aliases, capability.slug]);
  aliases.delete(to);
  return { ...capability, slug: to, aliases: [...aliases] };
}

/** A person has looked at it: it starts anew, with its tools as they are now. */
function released(capability: Capability, catalogue: Catalogue): Capability {
  const definitionHashes = definitionsOf(Object.keys(capability.evidence.definitionHashes), catalogue);
  const evidence = { ...capability.evidence, recent: [], definitionHashes, quarantinedBecause: null };
  return { ...capability, state: 'active', evidence };
}

/** From another PML: may be called at once, but has to earn its reliability here. */
function taken(
  { ports, capabilities: book, programs, catalogue }: ShelfParts,
  read: ImportedCapability,
): Capability {
  const identity = identityOf(read.template.source, ports.crypto.sha256);
  if (!identity.ok) throw new PmlError(identity.error.code, identity.error.message);
  const { codeHash } = identity.value;
  const known = book.byCodeHash(codeHash);
  if (known) {
    throw new PmlError('store_conflict', `This capability is here already, as ${known.slug}`, {
      hint: `See it with "pml capability show ${known.slug}".`,
    });
  }
  const prepared = programs.prepare(read.code);
  if (!prepared.ok) throw new PmlError('invalid_argument', `Its code cannot run: ${prepared.error.message}`);
  const { structure } = prepared.value;
  const names = book.all().flatMap(({ slug, aliases }) => [slug, ...aliases]);
  const tools = structure.nodes.flatMap((node) => (node.type === 'task' ? [node.tool] : []));
  const slug = names.includes(read.slug)
    ? slugFor({ intent: read.slug.replaceAll('_', ' '), tools, taken: names })
    : read.slug;
  const now = ports.clock.now();
  return {
    ...read,
    id: ports.crypto.randomUuid(),
    slug,
    aliases: read.aliases.filter((alias) => !names.includes(alias)),
    codeHash,
    toolsUsed: [...new Set(tools)],
    toolInvocations: [],
    staticStructure: structure,
    evidence: {
      recent: [],
      runIds: [],
      definitionHashes: definitionsOf(tools, catalogue()),
      intents: [],
      quarantinedBecause: null,
    },
    owner: null,
    visibility: 'shared',
    state: 'active',
    uses: 0,
    successes: 0,
    revision: 1,
    createdAt: now,
    updatedAt: now,
  };
}
