import type { Gateway } from '../../src/engine/gateway.ts';
import { gatewayProcedures, remoteGateway } from '../../src/engine/gateway-procedures.ts';
import { localBridge } from '../../src/engine/remote-procedures.ts';
import { bridgedOperations, operationProcedures } from '../../src/operations/bridged-operations.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { operationContext } from '../../src/operations/operation-context.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { runCli } from '../../src/surfaces/cli/run-cli.ts';
import type { Holder, OpenedGateway, System } from '../../src/surfaces/cli/system.ts';

interface Person {
  /** What they answer when asked; null when there is nobody. */
  readonly answer?: boolean | null;
  /** What they type or pipe in. */
  readonly input?: string;
  readonly isTty?: boolean;
  /** When they stop the command; absent: never. */
  readonly untilStopped?: () => Promise<void>;
}

/** Runs a command on a system of which only the given parts are there. */
export async function runCommand(
  argv: readonly string[],
  system: Partial<System>,
  { answer = null, input = '', isTty = false, untilStopped = () => new Promise(() => {}) }: Person = {},
): Promise<{ code: number; out: string; err: string; asked: readonly string[] }> {
  let out = '';
  let err = '';
  const asked: string[] = [];
  const code = await runCli(argv, { version: 'test', ...system } as System, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    isTty,
    drained: async () => {},
    async *input() {
      yield input;
    },
    async confirm(question) {
      asked.push(question);
      return answer;
    },
    untilStopped,
  });
  return { code, out, err, asked };
}

/** A gateway as commands reach it: through the table of procedures, values copied on the way. */
export function openedGateway(
  gateway: Gateway,
  operations: readonly AnyOperation[] = OPERATIONS,
): OpenedGateway {
  const procedures = {
    ...gatewayProcedures(gateway),
    ...operationProcedures(operations, operationContext(gateway, 'life')),
  };
  const bridge = localBridge(procedures, async () => {});
  const copying = {
    ...bridge,
    call: async (room: string, method: string, args: readonly unknown[]) =>
      structuredClone(await bridge.call(room, method, structuredClone(args))),
  };
  const [client, pml] = [remoteGateway(copying), bridgedOperations(copying)];
  return { gateway: client, pml, through: () => null, close: async () => {} };
}

export const SERVING: Holder = { pid: 1, role: 'serve', port: 8080, since: '2026-11-15T10:00:00Z' };
