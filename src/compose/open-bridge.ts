import { userInfo } from 'node:os';
import { createFailoverBridge, createHttpBridge } from '../adapters/client/http-bridge.ts';
import { claimOrReach, ensureDataDir, type Holder, readToken } from '../adapters/store/data-dir-lock.ts';
import type { Bridge, Settings } from '../engine/ports.ts';
import type { ProcessContext } from './start-gateway-process.ts';

export interface OpenBridge {
  readonly bridge: Bridge;
  /** The process that handled the last request, if not this one. */
  through(): Holder | null;
}

/**
 * How a command reaches the operations: through the process that holds the data folder, or by holding it.
 * A short-lived command listens too, so that another command started meanwhile can use it instead of failing.
 */
export async function openBridge(
  dir: string,
  settings: Settings,
  role: string,
  context: ProcessContext,
): Promise<OpenBridge> {
  await ensureDataDir(dir);
  const user = userInfo().username;
  let through: Holder | null = null;
  const bridge = createFailoverBridge(async () => {
    const claimed = await claimOrReach(dir, role);
    if ('holder' in claimed) {
      through = claimed.holder;
      return createHttpBridge(claimed.holder.port, await readToken(dir), user);
    }
    through = null;
    const { startGatewayProcess } = await import('./start-gateway-process.ts');
    const held = await startGatewayProcess(dir, settings, claimed.lock, {
      context,
      fillIn: false,
    });
    return {
      call: (operation, input) => held.answerCall({ operation, input, user }),
      close: held.close,
    };
  });
  return { bridge, through: () => through };
}
