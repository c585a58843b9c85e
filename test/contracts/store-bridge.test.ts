import { createHttpBridge } from '../../src/adapters/client/http-bridge.ts';
import { storeOver, storeProcedures } from '../../src/engine/remote-procedures.ts';
import { createMemoryStore } from '../memory/store.ts';
import { startHttp } from '../support/http-gateway.ts';
import { storeContract } from './store-contract.ts';

storeContract('through the holder of the data dir', async () => {
  const { listener, token } = await startHttp({ procedures: storeProcedures(createMemoryStore()) });
  const store = storeOver(createHttpBridge(listener.port, token));
  return { store, dispose: () => listener.close() };
});
