import { runStdioPump } from '../adapters/client/stdio-pump.ts';
import { awaitSuccessor, claimOrReach, ensureDataDir, readToken } from '../adapters/store/data-dir-lock.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Settings } from '../engine/ports.ts';
import type { StdioGateway } from '../surfaces/cli/system.ts';
import type { GatewayProcess, ProcessContext } from './start-gateway-process.ts';

const DEFAULTS = {
  /** A client first does the handshake and lists tools, which needs no store; calls come later. */
  openAfterMs: 200,
};

/**
 * `pml stdio` passes its client's messages to the process that holds the data folder, which may be itself.
 */
export function serveStdio(
  dir: string,
  settingsOf: () => Promise<Settings>,
  context: ProcessContext,
  /** Of the endpoint on the gateway. */
  path: string,
): StdioGateway {
  let held: GatewayProcess | null = null;
  const letGo = async () => {
    const holding = held;
    held = null;
    await holding?.close();
  };
  let isClosed = false;
  const close = async () => {
    isClosed = true;
    await letGo();
  };
  // Gives the process that asked for the data folder time to take it before this one looks for a holder
  // again.
  let isHandedOver = false;
  const handOver = async () => {
    isHandedOver = true;
    await letGo();
  };
  const reach = async () => {
    if (isClosed) throw new PmlError('cancelled', 'The client disconnected');
    await ensureDataDir(dir);
    const headers = { authorization: `Bearer ${await readToken(dir)}` };
    const successor = isHandedOver ? await awaitSuccessor(dir) : null;
    isHandedOver = false;
    const claimed = successor ? { holder: successor } : await claimOrReach(dir, 'stdio');
    if ('holder' in claimed) return { url: mcpUrl(claimed.holder.port, path), headers };
    const [settings, { startGatewayProcess }] = await Promise.all([
      settingsOf(),
      import('./start-gateway-process.ts'),
    ]);
    const options = { context, fillIn: true, handOver, openAfterMs: DEFAULTS.openAfterMs };
    held = await startGatewayProcess(dir, settings, claimed.lock, options);
    held.ready.catch(fail);
    return { ...held.toMcp(mcpUrl(held.listener.port, path)), headers };
  };
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const onError = (error: Error) => void process.stderr.write(`pml: ${error.message}\n`);
  const pump = runStdioPump({ stdin: process.stdin, stdout: process.stdout, reach, onError });
  return { ended: Promise.race([pump, failed]), close };
}

function mcpUrl(port: number, path: string): URL {
  return new URL(`http://127.0.0.1:${port}${path}`);
}
