import type { Gateway } from '../../src/engine/gateway.ts';
import { openingGateway } from '../../src/engine/opening-gateway.ts';
import { createEventLog } from '../../src/engine/traces/event-log.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { storeContract } from './store-contract.ts';

storeContract('of a gateway that is still being opened', async () => {
  const { promise: opening, resolve } = Promise.withResolvers<Gateway>();
  const { store } = openingGateway({
    settings: settingsFor([]),
    events: createEventLog({ now: () => new Date(), monotonic: () => 0 }),
    inventory: '',
    opening,
  });
  setImmediate(() => resolve({ store: createMemoryStore() } as unknown as Gateway));
  return { store, dispose: async () => {} };
});
