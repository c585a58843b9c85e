import { z } from 'zod';
import { may } from '../engine/people/roles.ts';
import { CONNECTION, connectionToWire } from './list-connections.ts';
import { operation } from './operation.ts';
import { askerOf, deciderOf, notFound } from './operation-context.ts';

export const revokeConnection = operation({
  name: 'revoke_connection',
  right: 'run',
  summary: 'Disconnects an OAuth client: its tokens stop working',
  input: z.strictObject({ connection_id: z.string() }),
  output: z.object({ id: z.string() }),
  http: { method: 'POST', path: '/connections/:connection_id/revoke' },
  async run({ gateway }, { connection_id: id }, caller) {
    const who = askerOf(caller);
    const record = await gateway.store.oauth.get(CONNECTION, id);
    const found = record && connectionToWire(record);
    if (!found || (found.user !== who.user && !may(who, 'manage')))
      throw notFound('Connection', id, 'See GET /api/connections.');
    await gateway.store.oauth.removeGrant(id);
    await gateway.store.audit.append({
      at: new Date(),
      actor: deciderOf(caller),
      action: 'client_disconnected',
      subject: id,
      hash: null,
      details: { client_id: found.client_id, client_name: found.client_name },
    });
    return { id };
  },
});
