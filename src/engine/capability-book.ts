import { nearestName } from '../core/retrieval/nearest-name.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { Capability } from './ports.ts';

/** The capabilities in memory, as the store has them: a call from code must not wait for a query. */
export interface CapabilityBook {
  /** In order of slug. */
  all(): readonly Capability[];
  get(id: string): Capability | undefined;
  /** By slug, then by alias. */
  find(slug: string): Capability | undefined;
  /** The same; an unknown one is an error that names the nearest. */
  known(slug: string): Capability;
  byCodeHash(codeHash: string): Capability | undefined;
  put(capability: Capability): Promise<void>;
  remove(id: string): Promise<boolean>;
  /** One change at a time, each based on what the one before it left. */
  change<T>(work: () => Promise<T>): Promise<T>;
}

type BookPorts = Pick<FlowPorts, 'store' | 'events'>;

export async function openCapabilityBook(
  { store, events }: BookPorts,
  onChange: () => void = () => {},
): Promise<CapabilityBook> {
  const byId = new Map((await store.capabilities.list()).map((one) => [one.id, one]));
  let last: Promise<unknown> = Promise.resolve();
  const all = () => [...byId.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const find = (slug: string) =>
    all().find((one) => one.slug === slug) ?? all().find((one) => one.aliases.includes(slug));

  return {
    all,
    get: (id) => byId.get(id),
    find,
    known(slug) {
      const found = find(slug);
      if (found) return found;
      const nearest = nearestName(
        slug,
        all().map((one) => one.slug),
      );
      throw new PmlError('not_found', `There is no capability ${slug}`, {
        hint: nearest ? `Did you mean ${nearest}?` : 'Search with pml_search_capabilities.',
      });
    },
    byCodeHash: (codeHash) => all().find((one) => one.codeHash === codeHash),
    async put(capability) {
      const before = byId.get(capability.id);
      await store.capabilities.put(capability);
      byId.set(capability.id, capability);
      const { id, slug, state } = capability;
      if (before?.state !== state || before.slug !== slug) {
        events.emit({ type: 'capability_changed', capability_id: id, slug, state });
        onChange();
      }
    },
    async remove(id) {
      const gone = byId.get(id);
      byId.delete(id);
      const isRemoved = await store.capabilities.remove(id);
      if (gone)
        events.emit({ type: 'capability_changed', capability_id: id, slug: gone.slug, state: 'forgotten' });
      onChange();
      return isRemoved;
    },
    change(work) {
      const mine = last.then(work, work);
      last = mine.catch(() => {});
      return mine;
    },
  };
}
