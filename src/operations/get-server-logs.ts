import { z } from 'zod';
import { operation } from './operation.ts';

export const getServerLogs = operation({
  name: 'get_server_logs',
  right: 'bridge',
  summary: 'Last stderr output of an attached server',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.object({ name: z.string(), lines: z.array(z.string()) }),
  run: async ({ gateway }, { name }) => ({ name, lines: gateway.logs(name) }),
});
