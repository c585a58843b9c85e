import { createFailoverBridge } from '../adapters/client/failover-bridge.ts';
import { createHttpBridge } from '../adapters/client/http-bridge.ts';
import { claimOrReach } from '../adapters/store/claim-data-dir.ts';
import { ensureDataDir, readToken } from '../adapters/store/data-dir.ts';
import type { Holder } from '../adapters/store/data-dir-lock.ts';
import type { Settings } from '../engine/ports.ts';
import { localBridge, storeOver } from '../engine/remote-procedures.ts';
import type { OpenedStore } from '../surfaces/cli/system.ts';
import { LOOPBACK, type Own } from './own.ts';

/** Also a short-lived command listens: another one started beside it bridges instead of failing. */
export async function openStore(
  dir: string,
  settings: Settings,
  role: string,
  own: Own,
): Promise<OpenedStore> {
  await ensureDataDir(dir);
  let through: Holder | null = null;
  const bridge = createFailoverBridge(async () => {
    const claimed = await claimOrReach(dir, role);
    if ('holder' in claimed) {
      through = claimed.holder;
      return createHttpBridge(claimed.holder.port, await readToken(dir));
    }
    through = null;
    const { hold } = await import('./hold.ts');
    const held = await hold(dir, settings, claimed.lock, { own, ...LOOPBACK, fillIn: false });
    return localBridge(held.procedures, held.close);
  });
  return { store: storeOver(bridge), through: () => through, close: bridge.close };
}
