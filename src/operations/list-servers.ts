import { z } from 'zod';
import { operation } from './operation.ts';
import { server, serverToWire } from './shapes/server.ts';

export const listServers = operation({
  name: 'list_servers',
  right: 'read',
  summary: 'State of each attached server',
  input: z.strictObject({}),
  output: z.object({ servers: z.array(server), last_event_id: z.string() }),
  http: { method: 'GET', path: '/servers' },
  async run({ gateway, lastEventId }) {
    const last_event_id = lastEventId();
    return { servers: (await gateway.servers()).map(serverToWire), last_event_id };
  },
});
