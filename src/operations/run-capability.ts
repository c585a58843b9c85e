import { z } from 'zod';
import { callFields, callOf, slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { execution, executionToWire, withHowToSettle } from './shapes/run.ts';

export const runCapability = operation({
  name: 'run_capability',
  right: 'run',
  scoped: true,
  summary: 'Runs a capability',
  input: z.strictObject({ slug, ...callFields }),
  output: execution,
  http: { method: 'POST', path: '/capabilities/:slug/run' },
  async run({ gateway }, { slug: name, ...call }, caller) {
    // An unknown capability is an error of the request, not of a run.
    const found = await gateway.capabilities.show(name, caller);
    const made = await gateway.executeCapability({ capability: found.slug, ...callOf(call) }, caller);
    return withHowToSettle(executionToWire(made));
  },
});
