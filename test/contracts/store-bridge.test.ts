import { createHttpBridge } from '../../src/adapters/client/http-bridge.ts';
import { createRemoteStore } from '../../src/adapters/client/remote-store.ts';
import { createMemoryStore } from '../../src/engine/memory/store.ts';
import { storeProcedures } from '../../src/engine/remote-procedures.ts';
import { startHttp } from '../support/http-gateway.ts';
import { storeContract } from './store-contract.ts';

storeContract('through the holder of the data dir', async () => {
  const { listener, token } = await startHttp({ procedures: storeProcedures(createMemoryStore()) });
  const store = createRemoteStore(createHttpBridge(listener.port, token));
  return { store, dispose: () => listener.close() };
});
