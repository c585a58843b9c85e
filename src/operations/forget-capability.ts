import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';

export const forgetCapability = operation({
  name: 'forget_capability',
  right: 'manage',
  summary: 'Deletes a capability',
  input: z.strictObject({ slug }),
  output: z.object({ slug: z.string(), forgotten: z.boolean() }),
  http: { method: 'POST', path: '/capabilities/:slug/forget' },
  async run({ gateway }, input) {
    const found = await gateway.capabilities.show(input.slug);
    return { slug: found.slug, forgotten: await gateway.capabilities.forget(found.slug) };
  },
});
