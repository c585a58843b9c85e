import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { RemoteProcedures, Store } from './ports.ts';

type Rooms = Omit<Store, 'close'>;

/** Every method of the store another process may call; the types keep the list complete and true. */
export const STORE_METHODS: { readonly [R in keyof Rooms]: readonly (keyof Rooms[R] & string)[] } = {
  tools: ['put', 'get', 'list', 'remove'],
  embeddings: ['put', 'list'],
  edges: ['put', 'list', 'replaceAll'],
  capabilities: ['put', 'get', 'find', 'findByCodeHash', 'list', 'remove'],
  traces: ['append', 'get', 'list', 'scan', 'count', 'setPriorities', 'remove'],
  episodes: ['append', 'list'],
  runs: ['create', 'update', 'get', 'list'],
  approvals: ['request', 'settle', 'get', 'list'],
  rankerParams: ['save', 'list', 'remove'],
};

type Method = (...args: never[]) => Promise<unknown>;

/** What a holder offers of its store. `close` is not among it: the holder closes what it holds. */
export function storeProcedures(store: Store): RemoteProcedures {
  return Object.fromEntries(
    Object.entries(STORE_METHODS).map(([room, methods]) => {
      const object = store[room as keyof Rooms] as unknown as Record<string, Method>;
      return [
        `store.${room}`,
        Object.fromEntries(methods.map((method) => [method, object[method] as Method])),
      ];
    }),
  );
}

export async function callProcedure(
  procedures: RemoteProcedures,
  room: string,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  const offered = Object.hasOwn(procedures, room) ? procedures[room] : undefined;
  const procedure = offered && Object.hasOwn(offered, method) ? offered[method] : undefined;
  if (!procedure) {
    throw new PmlError('not_found', `This PML offers no ${room}.${method}`, {
      hint: 'The two processes may be of different versions: stop the older one.',
    });
  }
  return await procedure(...(args as never[]));
}
