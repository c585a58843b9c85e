import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openPgliteStore } from '../adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../adapters/store/open-postgres-store.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { openPostgresTeam } from '../adapters/store/team/open-postgres-team.ts';
import { soleGateway } from '../adapters/store/team/sole-gateway.ts';
import { openTraceJournal } from '../adapters/store/trace-journal.ts';
import { whenThere } from '../adapters/store/when-there.ts';
import type { FlowPorts } from '../engine/flow-ports.ts';
import type { Logger, StoreSettings } from '../engine/ports.ts';

export interface OpenStore extends Pick<FlowPorts, 'changes' | 'trainerLock' | 'journal'> {
  readonly store: SqlStore;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  readonly logger?: Logger;
  /** Ends the wait for a server that is not there. */
  readonly signal?: AbortSignal;
}

/** The memory of this gateway: its own, or one that it shares with others, that may go away or be yet to come. */
export async function openStore(
  dir: string,
  settings: StoreSettings,
  options: OpenStoreOptions = {},
): Promise<OpenStore> {
  const { url, waitMs } = settings;
  if (url === null) {
    const store = await openPgliteStore(dir);
    return { store, ...soleGateway(), journal: null, close: store.close };
  }
  return await whenThere(() => openShared(dir, url, settings, options.logger), { waitMs, ...options });
}

async function openShared(
  dir: string,
  url: string,
  { pool, statementTimeoutMs, queueBytes }: StoreSettings,
  logger?: Logger,
): Promise<OpenStore> {
  const name = `pml ${randomUUID()}`;
  const store = await openPostgresStore(url, { name, pool, statementTimeoutMs });
  try {
    const { changes, trainerLock, close } = await openPostgresTeam(url, name, logger);
    const journal = openTraceJournal(join(dir, 'queue'), { maxBytes: queueBytes });
    return {
      store,
      changes,
      trainerLock,
      journal,
      async close() {
        await close();
        await store.close();
        journal.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
