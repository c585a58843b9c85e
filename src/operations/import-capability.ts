import { z } from 'zod';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const importCapability = operation({
  name: 'import_capability',
  right: 'bridge',
  summary: 'Imports an exported capability',
  input: z.strictObject({
    /** By name, as in an export. */
    files: z.record(z.string(), z.string()),
  }),
  output: capability,
  run: async ({ gateway }, { files }) => capabilityToWire(await gateway.capabilities.import(files)),
});
