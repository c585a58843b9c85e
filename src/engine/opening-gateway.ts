import type { Gateway } from './gateway.ts';
import { isRestricted } from './people/roles.ts';
import type { Settings, Store, UpstreamEvent } from './ports.ts';
import type { EventLog } from './traces/event-log.ts';

export interface OpeningOptions {
  readonly settings: Settings;
  readonly events: EventLog;
  /** The inventory line of the last time, shown until the catalogue has been read. */
  readonly inventory: string;
  readonly opening: Promise<Gateway>;
}

/** What is asked at once, also before the gateway is there. */
type AtOnce = Pick<Gateway, 'events' | 'settings' | 'inventory' | 'logs' | 'store' | 'onUpstream'>;

/** Parts of the gateway that have methods of their own. */
const SERVICES = new Set<PropertyKey>([
  'capabilities',
  'graph',
  'learning',
  'people',
  'alerts',
] satisfies (keyof Gateway)[]);

/**
 * A gateway whose store is still being opened: what it can say at once it says at once (who it is,
 * what it offers), everything else waits. A client's first `tools/list` never waits for a database.
 */
export function openingGateway({ settings, events, inventory, opening }: OpeningOptions): Gateway {
  let opened: Gateway | null = null;
  void opening.then(
    (gateway) => {
      opened = gateway;
    },
    // Told to everybody who asks for something.
    () => {},
  );
  const atOnce: AtOnce = {
    events,
    settings: () => opened?.settings() ?? settings,
    inventory: (caller = {}) => {
      if (opened) return opened.inventory(caller);
      // What was remembered is everything there is.
      return caller.who && isRestricted(caller.who) ? 'The list of tools is still loading.' : inventory;
    },
    logs: (server) => opened?.logs(server) ?? [],
    store: waitingStore(async () => (await opening).store),
    onUpstream(listener: (event: UpstreamEvent) => void) {
      let stop: () => void = () => {};
      let isStopped = false;
      void opening.then(
        (gateway) => {
          if (!isStopped) stop = gateway.onUpstream(listener);
        },
        () => {},
      );
      return () => {
        isStopped = true;
        stop();
      };
    },
  };
  const whole = async () => (await opening) as unknown as Methods;
  const services = new Map(
    [...SERVICES].map((name) => [name, waiting(async () => (await whole())[name] as Methods)]),
  );
  const early = waiting(whole, { ...atOnce, ...Object.fromEntries(services) });
  // Once the gateway is there its own methods are found first, and no call takes the way round.
  const shown = Object.create(early) as Gateway;
  void opening.then(
    (gateway) => Object.assign(shown, gateway),
    () => {},
  );
  return shown;
}

type Methods = Record<PropertyKey, unknown>;

/** A store whose every method waits until it is there. */
function waitingStore(opened: () => Promise<Store>): Store {
  const rooms: Methods = { close: async () => (await opened()).close() };
  return new Proxy(rooms, {
    get(target, room) {
      if (!Object.hasOwn(target, room) && typeof room === 'string' && room !== 'then')
        target[room] = waiting(async () => (await opened())[room as keyof Store] as unknown as Methods);
      return target[room];
    },
  }) as unknown as Store;
}

/** An object whose methods, but for those that are known, wait until it is there. */
function waiting(object: () => Promise<Methods>, known: object = {}): Methods {
  return new Proxy(known as Methods, {
    get(target, method) {
      // Nobody's promise: it is looked at for `then` wherever it is returned.
      if (Object.hasOwn(target, method) || method === 'then' || typeof method === 'symbol')
        return target[method];
      const later = async (...args: unknown[]) => {
        const found = await object();
        return await (found[method] as (...given: unknown[]) => unknown).apply(found, args);
      };
      target[method] = later;
      return later;
    },
  });
}
