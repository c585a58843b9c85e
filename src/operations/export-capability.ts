import { z } from 'zod';
import { skillFolder } from '../engine/capabilities/manage-capabilities.ts';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';

export const exportCapability = operation({
  name: 'export_capability',
  right: 'read',
  scoped: true,
  summary: 'A capability as an Agent Skill: folder name and files',
  input: z.strictObject({ slug }),
  output: z.object({ folder: z.string(), files: z.record(z.string(), z.string()) }),
  http: { method: 'GET', path: '/capabilities/:slug/export' },
  async run({ gateway }, input, caller) {
    const files = await gateway.capabilities.export(input.slug, caller);
    return { folder: skillFolder(files), files };
  },
});
