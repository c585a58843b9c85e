import { type Bridge, STORE_METHODS, type Store } from '../../engine/ports.ts';

/** The holder's store, seen from another process. */
export function createRemoteStore(bridge: Bridge): Store {
  const rooms = Object.entries(STORE_METHODS).map(([room, methods]) => [
    room,
    Object.fromEntries(
      Object.keys(methods).map((method) => [
        method,
        (...args: unknown[]) => bridge.call(`store.${room}`, method, args),
      ]),
    ),
  ]);
  return { ...(Object.fromEntries(rooms) as Omit<Store, 'close'>), close: () => bridge.close() };
}
