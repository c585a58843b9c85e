import { learnSlots } from '../core/capabilities/learned-slots.ts';
import { fromSkillFiles, toSkillFiles } from '../core/capabilities/skill-document.ts';
import { identityOf } from '../core/capabilities/template.ts';
import { isSlug } from '../core/vocabulary/ids.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { CapabilityBook } from './capability-book.ts';
import type { Catalogue } from './catalogue.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { CapabilityShelf } from './gateway.ts';
import { quarantined } from './learn/count-uses.ts';
import type { Capability } from './ports.ts';

/** What people do with capabilities besides running them. */
export function createCapabilityShelf(
  { clock, crypto }: Pick<FlowPorts, 'clock' | 'crypto'>,
  book: CapabilityBook,
  catalogue: () => Catalogue,
): CapabilityShelf {
  const change = (slug: string, work: (capability: Capability) => Capability) =>
    book.change(async () => {
      const next = { ...work(book.known(slug)), updatedAt: clock.now() };
      await book.put(next);
      return next;
    });

  return {
    list: async () => book.all(),
    show: async (slug) => book.known(slug),

    rename: (slug, to) =>
      change(slug, (capability) => {
        if (!isSlug(to)) throw badSlug(to);
        const holder = book.find(to);
        if (holder && holder.id !== capability.id) throw taken(to, holder);
        const aliases = new Set([...capability.aliases, capability.slug]);
        aliases.delete(to);
        return { ...capability, slug: to, aliases: [...aliases] };
      }),

    quarantine: (slug, reason) =>
      change(slug, (capability) => {
        if (reason !== null) return quarantined(capability, reason);
        const { evidence } = capability;
        return {
          ...capability,
          state: 'active',
          // A person looked at it: it starts anew, with its tools as they are now.
          evidence: {
            ...evidence,
            recent: [],
            definitionHashes: currentHashes(capability, catalogue()),
            quarantinedBecause: null,
          },
        };
      }),

    forget: (slug) => book.change(async () => await book.remove(book.known(slug).id)),
    export: async (slug) => toSkillFiles(book.known(slug)),

    import: (files) =>
      book.change(async () => {
        const read = fromSkillFiles(files);
        if (!read.ok) throw new PmlError(read.error.code, read.error.message, hintOf(read.error));
        const capability = imported(read.value);
        await book.put(capability);
        return capability;
      }),
  };
}
