import type { ChangeFeed, ChangeListener, ChangeTopic, Store, TrainerLock } from '../../src/engine/ports.ts';

/** One of the gateways on a shared store. */
export interface TeamMember {
  /** The shared store; writes through it are announced to the others. */
  readonly store: Store;
  readonly changes: ChangeFeed;
  readonly trainerLock: TrainerLock;
  /** As if its process had died. */
  leave(): void;
}

/** Gateways on one PostgreSQL, simulated in one process. */
export function createMemoryTeam(shared: Store): { join(): TeamMember } {
  const members: Set<{ hear: (topic: ChangeTopic, key: string) => void; sit: () => void }> = new Set();
  let holder: object | null = null;

  return {
    join() {
      const listeners = new Set<ChangeListener>();
      const seatListeners = new Set<(isHeld: boolean) => void>();
      let heard: { topic: ChangeTopic; key: string }[] = [];
      let isTelling = false;
      let seeks = false;
      const tellAll = async () => {
        isTelling = true;
        while (heard.length > 0) {
          const batch = heard;
          heard = [];
          for (const listener of listeners) await listener(batch);
        }
        isTelling = false;
      };
      const member = {
        hear(topic: ChangeTopic, key: string) {
          heard.push({ topic, key });
          if (!isTelling) void tellAll();
        },
        sit() {
          if (!seeks || holder !== null) return;
          holder = member;
          for (const listener of seatListeners) listener(true);
        },
      };
      members.add(member);
      const tell = (topic: ChangeTopic, keys: Iterable<string>) => {
        for (const other of members) {
          if (other !== member) for (const key of keys) other.hear(topic, key);
        }
      };
      const seek = () => {
        seeks = true;
        member.sit();
      };
      return {
        store: toldStore(shared, tell),
        changes: {
          follow(listener) {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        },
        trainerLock: {
          isHeld: () => holder === member,
          seek,
          async claim() {
            seek();
            return holder === member;
          },
          onChange(listener) {
            seatListeners.add(listener);
            return () => void seatListeners.delete(listener);
          },
        },
        leave() {
          members.delete(member);
          if (holder !== member) return;
          holder = null;
          for (const listener of seatListeners) listener(false);
          for (const other of members) other.sit();
        },
      };
    },
  };
}

type Tell = (topic: ChangeTopic, keys: Iterable<string>) => void;

/** Announces what the database's triggers would announce. */
function toldStore(store: Store, tell: Tell): Store {
  const { tools, embeddings, capabilities, traces, graph, rankerParams, approvals } = store;
  const told =
    <A extends unknown[], R>(
      write: (...args: A) => Promise<R>,
      topic: ChangeTopic,
      keys: (...args: A) => Iterable<string> = () => [''],
    ) =>
    async (...args: A): Promise<R> => {
      const result = await write(...args);
      tell(topic, keys(...args));
      return result;
    };
  const idOf = (row: { readonly id: string }) => [row.id];
  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  return {
    ...store,
    tools: {
      ...tools,
      put: told(tools.put, 'tools', idsOf),
      retire: told(tools.retire, 'tools', (ids) => ids),
      propose: told(tools.propose, 'tools', idsOf),
      remove: told(tools.remove, 'tools', (ids) => ids),
      observeOutputs: told(tools.observeOutputs, 'outputs', (schemas) => schemas.keys()),
    },
    embeddings: {
      ...embeddings,
      put: told(embeddings.put, 'tools', (rows) => rows.map(({ toolId }) => toolId)),
    },
    capabilities: {
      ...capabilities,
      put: told(capabilities.put, 'capabilities', idOf),
      remove: told(capabilities.remove, 'capabilities', (id) => [id]),
    },
    traces: {
      ...traces,
      append: told(traces.append, 'traces'),
      appendAll: told(traces.appendAll, 'traces'),
    },
    graph: { ...graph, replaceAll: told(graph.replaceAll, 'graph') },
    rankerParams: {
      ...rankerParams,
      save: told(rankerParams.save, 'ranker', idOf),
      remove: told(rankerParams.remove, 'ranker', (id) => [id]),
    },
    approvals: {
      ...approvals,
      request: told(approvals.request, 'approvals', idOf),
      settle: told(approvals.settle, 'approvals', (id) => [id]),
      use: told(approvals.use, 'approvals', (id) => [id]),
    },
  };
}
