import { createFailoverBridge, createHttpBridge } from '../adapters/client/http-bridge.ts';
import { ensureDataDir, readToken } from '../adapters/store/data-dir.ts';
import { claimOrReach, type Holder } from '../adapters/store/data-dir-lock.ts';
import type { Bridge, Settings } from '../engine/ports.ts';
import { localBridge } from '../engine/remote-procedures.ts';
import { LOOPBACK, type ProcessContext } from './process-context.ts';

export interface OpenBridge {
  readonly bridge: Bridge;
  /** The process that was asked last, when it was not this one. */
  through(): Holder | null;
}

/**
 * A command's way to store and gateway: through the holder of the data dir, or as its holder. Also a
 * short-lived command listens, so that another one started beside it bridges instead of failing.
 */
export async function openBridge(
  dir: string,
  settings: Settings,
  role: string,
  context: ProcessContext,
): Promise<OpenBridge> {
  await ensureDataDir(dir);
  let through: Holder | null = null;
  const bridge = createFailoverBridge(async () => {
    const claimed = await claimOrReach(dir, role);
    if ('holder' in claimed) {
      through = claimed.holder;
      return createHttpBridge(claimed.holder.port, await readToken(dir));
    }
    through = null;
    const { startGatewayProcess } = await import('./start-gateway-process.ts');
    const held = await startGatewayProcess(dir, settings, claimed.lock, {
      context,
      ...LOOPBACK,
      fillIn: false,
    });
    return localBridge(held.procedures, held.close);
  });
  return { bridge, through: () => through };
}
