import type { Gateway } from '../../src/engine/gateway.ts';
import { gatewayProcedures, remoteGateway } from '../../src/engine/gateway-procedures.ts';
import { localBridge } from '../../src/engine/remote-procedures.ts';
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
export function openedGateway(gateway: Gateway): OpenedGateway {
  const procedures = gatewayProcedures(gateway);
  const bridge = localBridge(procedures, async () => {});
  const client = remoteGateway({
    ...bridge,
    call: async (room, method, args) =>
      structuredClone(await bridge.call(room, method, structuredClone(args))),
  });
  return { gateway: client, through: () => null, close: async () => {} };
}

export const SERVING: Holder = { pid: 1, role: 'serve', port: 8080, since: '2026-11-15T10:00:00Z' };
