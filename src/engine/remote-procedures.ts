import { PmlError } from '../core/vocabulary/pml-error.ts';
import { type Bridge, type RemoteProcedures, STORE_METHODS, type Store, type StoreRooms } from './ports.ts';

type Method = (...args: never[]) => Promise<unknown>;

/** What a holder offers of its store. `close` is not among it: the holder closes what it holds. */
export function storeProcedures(store: Store): RemoteProcedures {
  return Object.fromEntries(
    Object.entries(STORE_METHODS).map(([room, methods]) => {
      const object = store[room as keyof StoreRooms] as unknown as Record<string, Method>;
      return [
        `store.${room}`,
        Object.fromEntries(Object.keys(methods).map((method) => [method, object[method] as Method])),
      ];
    }),
  );
}

/** The holder's own way to itself, so that it is spoken to like anybody else's. */
export function localBridge(procedures: RemoteProcedures, close: () => Promise<void>): Bridge {
  return { call: (room, method, args) => callProcedure(procedures, room, method, args), close };
}

/** A store whose every method is asked of a bridge: another process's, or one that is still being opened. */
export function storeOver(bridge: Bridge): Store {
  const rooms = Object.entries(STORE_METHODS).map(([room, methods]) => [
    room,
    Object.fromEntries(
      Object.keys(methods).map((method) => [
        method,
        (...args: unknown[]) => bridge.call(`store.${room}`, method, args),
      ]),
    ),
  ]);
  return { ...(Object.fromEntries(rooms) as StoreRooms), close: () => bridge.close() };
}

export async function callProcedure(
  procedures: RemoteProcedures,
  room: string,
  method: string,
  args: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const offered = Object.hasOwn(procedures, room) ? procedures[room] : undefined;
  const procedure = offered && Object.hasOwn(offered, method) ? offered[method] : undefined;
  if (!procedure) {
    throw new PmlError('not_found', `This PML offers no ${room}.${method}`, {
      hint: 'The two processes may be of different versions: stop the older one.',
    });
  }
  const given = signal && procedure.isCancellable ? [...args, signal] : args;
  return await procedure(...(given as never[]));
}
