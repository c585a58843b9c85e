import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { sampleCapability } from '../../../test/support/samples.ts';
import { createEventLog } from '../traces/event-log.ts';
import { openCapabilityRegistry } from './capability-registry.ts';

test('[TEAM-6] a change made while another is computed is kept, and the other is applied on top of it', async () => {
  const store = createMemoryStore();
  const capability = sampleCapability({ uses: 0, revision: 1 });
  const { id } = capability;
  await store.capabilities.put(capability);
  const events = createEventLog({ now: () => new Date(0), monotonic: () => 0 });
  const here = await openCapabilityRegistry({ store, events });
  const there = await openCapabilityRegistry({ store, events });
  let tries = 0;
  await here.change(async () => {
    const known = here.get(id)!;
    if (tries++ === 0) {
      await there.put({ ...there.get(id)!, uses: 1 });
      // As when the news is faster than the store's refusal.
      await here.refresh([id]);
    }
    await here.put({ ...known, uses: known.uses + 1 });
  });
  expect(tries).toBe(2);
  expect((await store.capabilities.get(id))?.uses).toBe(2);
});
