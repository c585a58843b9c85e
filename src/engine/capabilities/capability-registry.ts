import { quarantineReason } from '../../core/capabilities/quarantine.ts';
import { nearestName } from '../../core/retrieval/words.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import { type ExecutionTrace, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import { type CapabilityNodeId, capabilityUuid, kindOf, type ToolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { KeyScope } from '../../core/vocabulary/principal.ts';
import { isEnd } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue, CatalogueEntry } from '../catalogue/catalogue.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { hidesTools, maySee, mayUseTool } from '../people/roles.ts';
import type { Capability } from '../ports.ts';

/** Looks up capabilities. */
export interface ReadableRegistry {
  /** In order of slug. */
  all(): readonly Capability[];
  get(id: string): Capability | undefined;
  /** By slug, then by alias. */
  find(slug: string): Capability | undefined;
  /** The same; an unknown one is an error that names the nearest. */
  known(slug: string): Capability;
  byCodeHash(codeHash: string): Capability | undefined;
}

/** The capabilities in memory, as the store has them: a call from code must not wait for a query. */
export interface CapabilityRegistry extends ReadableRegistry {
  /** Answers it as it is stored: one revision on from what was known of it. */
  put(capability: Capability): Promise<Capability>;
  remove(id: string): Promise<boolean>;
  /**
   * One change at a time, each based on what the one before it left. Where another gateway was faster, it is
   * worked out again on what that one left.
   */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Reads these again, or all: another gateway changed them. */
  refresh(ids?: Iterable<string>): Promise<void>;
  /** Told when a capability came, went, or changed in a way that callers can see. */
  onChange(listener: () => void): void;
}

/** The fields whose changes are reported to listeners. */
const NOTED = ['state', 'slug', 'owner', 'visibility'] as const;

const DEFAULTS = {
  /** How often a change is worked out again: each time one of the gateways that want the same gets its way. */
  retries: 10,
  /** Latest outcomes kept: what quarantine looks at. */
  recent: 20,
};

/** Of whatever list there is at the time. */
export function readRegistry(all: () => readonly Capability[]): ReadableRegistry {
  const find = (slug: string) =>
    all().find((one) => one.slug === slug) ?? all().find((one) => one.aliases.includes(slug));
  return {
    all,
    get: (id) => all().find((one) => one.id === id),
    find,
    known(slug) {
      const found = find(slug);
      if (found) return found;
      const nearest = nearestName(
        slug,
        all().map((one) => one.slug),
      );
      throw new PmlError('not_found', `Capability ${slug} not found`, {
        hint: nearest ? `Did you mean ${nearest}?` : 'Search with pml_search_capabilities.',
      });
    },
    byCodeHash: (codeHash) => all().find((one) => one.codeHash === codeHash),
  };
}

type RegistryPorts = Pick<FlowPorts, 'store' | 'events'>;

export async function openCapabilityRegistry({ store, events }: RegistryPorts): Promise<CapabilityRegistry> {
  const listeners: (() => void)[] = [];
  const byId = new Map((await store.capabilities.list()).map((one) => [one.id, one]));
  let last: Promise<unknown> = Promise.resolve();
  const all = () => [...byId.values()].sort((a, b) => (a.slug < b.slug ? -1 : 1));

  /** As the store has it now; undefined: it is gone. */
  function note(id: string, now: Capability | undefined): void {
    const before = byId.get(id);
    if (now) byId.set(id, now);
    else byId.delete(id);
    const told = now ?? before;
    const isSame =
      before &&
      now &&
      isUnlisted(before) === isUnlisted(now) &&
      NOTED.every((field) => before[field] === now[field]);
    if (!told || isSame) return;
    const tell = ({ slug, owner, visibility }: Capability, state: Capability['state'] | 'forgotten') =>
      events.emit({ type: 'capability_changed', capability_id: id, slug, state, owner, visibility });
    // For users who may no longer see it, it is gone.
    if (before?.visibility === 'shared' && now?.visibility === 'private') tell(before, 'forgotten');
    tell(told, now?.state ?? 'forgotten');
    for (const tell of listeners) tell();
  }

  async function refresh(ids?: Iterable<string>): Promise<void> {
    const all = ids === undefined ? await store.capabilities.list() : null;
    const stored = all && new Map(all.map((one) => [one.id, one]));
    for (const id of ids ?? new Set([...byId.keys(), ...(stored?.keys() ?? [])])) {
      const now = stored ? stored.get(id) : ((await store.capabilities.get(id)) ?? undefined);
      // What was read may be older than what was written here meanwhile.
      if (now && now.revision < (byId.get(id)?.revision ?? 0)) continue;
      note(id, now);
    }
  }

  async function changed<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      const before = revisions();
      try {
        return await work();
      } catch (error) {
        const isStale = error instanceof PmlError && error.code === 'store_conflict';
        if (!isStale || tries === DEFAULTS.retries) throw error;
        await refresh();
        // Nothing was changed elsewhere, so it would end the same way.
        if (revisions() === before) throw error;
      }
    }
  }
  const revisions = () => JSON.stringify(all().map(({ id, revision }) => [id, revision]));

  return {
    ...readRegistry(all),
    onChange: (listener) => void listeners.push(listener),
    get: (id) => byId.get(id),
    async put(capability) {
      const stored = { ...capability, revision: byId.has(capability.id) ? capability.revision + 1 : 1 };
      await store.capabilities.put(stored);
      note(stored.id, stored);
      return stored;
    },
    async remove(id) {
      const isRemoved = await store.capabilities.remove(id);
      note(id, undefined);
      return isRemoved;
    },
    refresh,
    change(work) {
      const turn = () => changed(work);
      const mine = last.then(turn, turn);
      last = mine.catch(() => {});
      return mine;
    },
  };
}

/** One more use of a capability, and how it went. */
export function withOutcome(capability: Capability, success: boolean, at: Date): Capability {
  const { evidence } = capability;
  const counted = {
    ...capability,
    uses: capability.uses + 1,
    successes: capability.successes + (success ? 1 : 0),
    evidence: { ...evidence, recent: [...evidence.recent, success].slice(-DEFAULTS.recent) },
    updatedAt: at,
  };
  const reason = counted.state === 'active' ? quarantineReason({ recent: counted.evidence.recent }) : null;
  return reason === null ? counted : quarantined(counted, reason);
}

/** `heals`: it may be called again once everything it depends on is as before. */
export function quarantined(capability: Capability, reason: string, heals = false): Capability {
  const { heals: _, ...evidence } = capability.evidence;
  return {
    ...capability,
    state: 'quarantined',
    evidence: { ...evidence, quarantinedBecause: reason, ...(heals && { heals }) },
  };
}

/** A part of jobs that nobody has called yet: there for plans and for who searches, and not in any list. */
export function isUnlisted({ evidence, uses }: Pick<Capability, 'evidence' | 'uses'>): boolean {
  return evidence.part !== undefined && uses <= evidence.part.support;
}

/** Whether a run was stopped early: it waits for a person's decision, or it was cancelled. */
export function wasHalted({ errorType, taskResults }: ExecutionTrace): boolean {
  const [only] = taskResults as readonly { readonly error?: { readonly code?: string } }[];
  return errorType === 'PERMISSION' || only?.error?.code === 'cancelled';
}

/**
 * Every invocation counts, also those within others, but for successes in runs that PML started by itself. One that
 * was halted has not failed.
 */
export async function countUses(registry: CapabilityRegistry, trace: ExecutionTrace): Promise<void> {
  const { events, executedAt, origin } = trace;
  for (const event of events) {
    if (!isEnd(event) || kindOf(event.node) !== 'capability') continue;
    if (!isEvidence({ origin, success: event.success }) || (!event.success && wasHalted(trace))) continue;
    const id = capabilityUuid(event.node as CapabilityNodeId);
    await registry.change(async () => {
      const capability = registry.get(id);
      if (capability) await registry.put(withOutcome(capability, event.success, executedAt));
    });
  }
}

/** The current definition from the tool's server, accepted or not. */
export function currentDefinition(catalogue: Catalogue, tool: string): string | undefined {
  const entry = catalogue.get(tool as ToolId);
  return (entry?.proposed ?? entry?.tool)?.definitionHash;
}

/**
 * The registry as this caller may read it: what is private to others, and what calls tools outside of its scope, is not
 * there. PML itself reads all.
 */
export function seenBy(registry: CapabilityRegistry, { who }: Pick<Caller, 'who'>): CapabilityRegistry {
  return who ? narrowed(registry, (one) => maySee(who, one) && usesOnly(who.scope, one)) : registry;
}

/** By what it called, and by what its program may call. */
function usesOnly(scope: KeyScope | undefined, { toolsUsed, staticStructure }: Capability): boolean {
  if (!hidesTools(scope)) return true;
  const { nodes = [] } = (staticStructure ?? {}) as Partial<StaticStructure>;
  const called = nodes.flatMap((node) => (node.type === 'task' ? [node.tool] : []));
  return [...toolsUsed, ...called]
    .filter((node) => kindOf(node) === 'tool')
    .every((node) => mayUseTool(scope, node as ToolId));
}

/** The same for what all may read. */
export function sharedOnly(registry: CapabilityRegistry): CapabilityRegistry {
  return narrowed(registry, ({ visibility }) => visibility === 'shared');
}

/** What a run may call is what its caller may see. */
export function asSeenBy<S extends Callable>(scope: S, caller: Pick<Caller, 'who'>): S {
  if (!caller.who) return scope;
  const { findTool } = scope;
  const capabilities = seenBy(scope.capabilities, caller);
  const find: typeof findTool = (call) => findTool!(call, caller);
  return { ...scope, capabilities, ...(findTool && { findTool: find }) };
}

interface Callable {
  readonly capabilities: CapabilityRegistry;
  /** As a method: what is found may be asked for with more than this. */
  findTool?(call: { readonly tool: string }, caller?: Pick<Caller, 'who'>): Promise<CatalogueEntry>;
}

function narrowed(registry: CapabilityRegistry, isSeen: (one: Capability) => boolean): CapabilityRegistry {
  return { ...registry, ...readRegistry(() => registry.all().filter(isSeen)) };
}
