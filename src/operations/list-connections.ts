import { z } from 'zod';
import { may } from '../engine/people/roles.ts';
import type { OAuthRecord } from '../engine/ports.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';

/** The kind under which connections are stored; each ends with its grant. */
export const CONNECTION = 'Connection';

const connection = z.object({
  id: z.string(),
  client_id: z.string(),
  /** What the client calls itself. */
  client_name: z.string(),
  redirect_host: z.string(),
  /** The endpoint it may use. */
  resource: z.string(),
  scopes: z.array(z.string()),
  /** The key it acts with; null for the data folder's owner. */
  key_id: z.string().nullable(),
  user: z.string(),
  connected_at: z.string(),
});

export const listConnections = operation({
  name: 'list_connections',
  right: 'run',
  summary: "The OAuth clients that people have connected: your own, or everybody's for operators",
  input: z.strictObject({}),
  output: z.object({ connections: z.array(connection) }),
  http: { method: 'GET', path: '/connections' },
  async run({ gateway }, _, caller) {
    const who = askerOf(caller);
    const records = await gateway.store.oauth.list(CONNECTION);
    const all = records.map(connectionToWire);
    return { connections: all.filter(({ user }) => user === who.user || may(who, 'manage')) };
  },
});

export function connectionToWire({ id, payload }: OAuthRecord): z.infer<typeof connection> {
  return connection.parse({ ...payload, id });
}
