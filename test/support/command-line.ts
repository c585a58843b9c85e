import { userInfo } from 'node:os';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Bridge } from '../../src/engine/ports.ts';
import { bridgedOperations, operationAnswers } from '../../src/operations/bridged-operations.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { operationContext } from '../../src/operations/operation-context.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { runCli } from '../../src/surfaces/cli/run-cli.ts';
import type { Holder, OpenedGateway, System } from '../../src/surfaces/cli/system.ts';

interface Person {
  /** The person's answer to a question; null if there is no person. */
  readonly answer?: boolean | null;
  /** What the person types or pipes in. */
  readonly input?: string;
  readonly isTty?: boolean;
  /** Resolves when the person stops the command; absent: never. */
  readonly untilStopped?: () => Promise<void>;
}

/** Runs a command on a system that only has the given parts. */
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

/** A gateway as commands reach it: values are copied on the way, as between processes. */
export function openedGateway(
  gateway: Gateway,
  operations: readonly AnyOperation[] = OPERATIONS,
): OpenedGateway {
  const answerCall = operationAnswers(operations, operationContext(gateway, 'life'));
  const user = userInfo().username;
  const bridge: Bridge = {
    call: async (operation, input) => copyOf(await answerCall({ operation, input: copyOf(input), user })),
    close: async () => {},
  };
  return { pml: bridgedOperations(bridge), through: () => null, close: bridge.close };
}

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export const SERVING: Holder = { pid: 1, role: 'serve', port: 8080, since: '2026-11-15T10:00:00Z' };
