import { z } from 'zod';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';
import { valueFrom } from './operation-context.ts';

export const restartServer = operation({
  name: 'restart_server',
  right: 'manage',
  summary: 'Restarts an attached server; resets its failure count',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.object({
    name: z.string(),
    /** The server's self-description. */
    info: jsonObject.nullable(),
    protocol_version: z.string(),
    /** How many tools it has now. */
    tools: z.number(),
  }),
  http: { method: 'POST', path: '/servers/:name/restart' },
  async run({ gateway }, { name }) {
    const { info, protocolVersion } = valueFrom(await gateway.restart(name));
    const found = (await gateway.servers()).find((server) => server.name === name);
    return { name, info, protocol_version: protocolVersion, tools: found?.tools ?? 0 };
  },
});
