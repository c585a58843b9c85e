import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { storeContract } from './store-contract.ts';

storeContract('PostgreSQL', async () => {
  const server = await startPostgres();
  const store = await openPostgresStore(server.url);
  return {
    store,
    async dispose() {
      await store.close();
      await server.dispose();
    },
  };
});
