import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { GatewayClient } from '../../engine/gateway-procedures.ts';
import type { Store, UpstreamReply } from '../../engine/ports.ts';
import type { OperationClient } from '../../operations/operation-client.ts';
import type { CommandContext } from './command.ts';
import type { GlobalOptions } from './system.ts';

/** Works with the gateway that runs on the data dir, else with one of its own that starts no server. */
export async function withGateway<T>(
  { system }: CommandContext,
  options: GlobalOptions,
  role: string,
  work: (gateway: GatewayClient, pml: OperationClient) => Promise<T>,
): Promise<T> {
  const { gateway, pml, close } = await system.openGateway(options, role);
  try {
    return await work(gateway, pml);
  } finally {
    await close();
  }
}

/** What a server did wrong is data in the engine; for a command it is how it fails. */
export function valueFrom<T>(reply: UpstreamReply<T>): T {
  if (reply.ok) return reply.value;
  const { code, message, hint } = reply.error;
  throw new PmlError(code, message, hint === undefined ? {} : { hint });
}

/** Works with the store of the data dir: this process's own, or that of the process that holds it. */
export async function withStore<T>(
  { system }: CommandContext,
  options: GlobalOptions,
  role: string,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { store, close } = await system.openStore(options, role);
  try {
    return await work(store);
  } finally {
    await close();
  }
}
