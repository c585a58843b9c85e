import { z } from 'zod';
import { operation } from './operation.ts';
import { server, serverToWire } from './shapes/server.ts';

export const listServers = operation({
  name: 'list_servers',
  right: 'read',
  scoped: true,
  summary: 'State of each attached server',
  input: z.strictObject({}),
  output: z.object({ servers: z.array(server), last_event_id: z.string() }),
  http: { method: 'GET', path: '/servers' },
  async run({ gateway, lastEventId }, _, caller) {
    const last_event_id = lastEventId();
    return { servers: (await gateway.servers(caller)).map(serverToWire), last_event_id };
  },
});
