import { z } from 'zod';
import type { ServerChanges } from '../engine/catalogue/manage-servers.ts';
import { operation } from './operation.ts';
import { changeToWire, definitionChange } from './shapes/run.ts';

export const serverChanges = z.object({
  name: z.string(),
  /** Changes of the server's self-description. */
  words: z.array(definitionChange),
  tools: z.array(z.object({ tool: z.string(), changes: z.array(definitionChange) })),
  /** Identifies exactly these changes. */
  hash: z.string(),
});

export const getServerChanges = operation({
  name: 'get_server_changes',
  right: 'bridge',
  summary: 'Changes to the tools and the description of a server that nobody has accepted yet',
  input: z.strictObject({ name: z.string().min(1) }),
  output: serverChanges,
  run: async ({ gateway }, { name }) => changesToWire(name, await gateway.changesOfServer(name)),
});

export function changesToWire(name: string, { words, tools, hash }: ServerChanges) {
  return {
    name,
    words: words.map(changeToWire),
    tools: tools.map(({ tool, changes }) => ({ tool, changes: changes.map(changeToWire) })),
    hash,
  };
}
