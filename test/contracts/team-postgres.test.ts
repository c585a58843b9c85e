import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import { openPostgresTeam } from '../../src/adapters/store/team/open-postgres-team.ts';
import type { Change } from '../../src/engine/ports.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { sampleCapability, sampleTrace } from '../support/samples.ts';
import { type Member, teamContract } from './team-contract.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.dispose());

async function join(): Promise<Member> {
  const name = `pml ${randomUUID()}`;
  const store = await openPostgresStore(server.url, { name });
  const { changes, trainerLock, close } = await openPostgresTeam(server.url, name);
  return {
    store,
    changes,
    trainerLock,
    async leave() {
      await close();
      await store.close();
    },
  };
}

test('[TEAM-3] gateways that start at once on an empty database migrate it together', async () => {
  const stores = await Promise.all(Array.from({ length: 6 }, () => openPostgresStore(server.url)));
  await Promise.all(stores.map((store, i) => store.traces.append(sampleTrace({ id: `first-${i}` }))));
  expect(await stores[0]!.traces.count()).toBe(6);
  await Promise.all(stores.map((store) => store.close()));
});

teamContract('PostgreSQL', async () => ({ join, dispose: async () => {} }));

test('[TEAM-4] a gateway that reconnects is notified of changes that it missed', async () => {
  const [writer, reader] = [await join(), await join()];
  const told: (Change | null)[] = [];
  reader.changes.follow(async (batch) => void told.push(...(batch ?? [null])));
  reader.trainerLock.seek();
  await expect.poll(() => reader.trainerLock.isHeld()).toBe(true);

  process.kill(await server.pid(), 'SIGKILL');
  await expect.poll(() => reader.trainerLock.isHeld()).toBe(false);
  await server.restartAfterCrash();
  // Whichever connects first: the change stands in the table.
  const capability = sampleCapability();
  await expect
    .poll(() =>
      writer.store.capabilities.put(capability).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await expect.poll(() => told).toContainEqual({ topic: 'capabilities', key: capability.id });
  // Traces follow the table of changes, in the same batch or in the next.
  await expect.poll(() => told).toContainEqual({ topic: 'traces', key: '' });
  await expect.poll(() => reader.trainerLock.isHeld()).toBe(true);
  await Promise.all([writer.leave(), reader.leave()]);
});

test('[TEAM-4] a failing listener is notified again until it succeeds', async () => {
  const [writer, reader] = [await join(), await join()];
  const told: (readonly Change[] | null)[] = [];
  reader.changes.follow(async (batch) => {
    told.push(batch);
    if (told.length === 1) throw new Error('the store is away');
  });
  await writer.store.capabilities.put(sampleCapability());
  await expect.poll(() => told.length).toBeGreaterThanOrEqual(2);
  // It is unknown what was done of it, so anything may have changed.
  expect(told[1]).toBeNull();
  await Promise.all([writer.leave(), reader.leave()]);
});
