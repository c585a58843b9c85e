import { z } from 'zod';
import { changesToWire, serverChanges } from './get-server-changes.ts';
import { operation } from './operation.ts';
import { deciderOf } from './operation-context.ts';

export const acceptServerChanges = operation({
  name: 'accept_server_changes',
  right: 'bridge',
  summary: 'Accepts exactly the changes of a server that were shown',
  input: z.strictObject({
    name: z.string().min(1),
    /** Hash of the changes that were shown. */
    hash: z.string(),
  }),
  output: serverChanges,
  run: async ({ gateway }, { name, hash }, caller) =>
    changesToWire(name, await gateway.acceptServer(name, deciderOf(caller), hash)),
});
