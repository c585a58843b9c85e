import type { Caller } from '../engine/gateway.ts';
import type { Bridge, RemoteProcedures } from '../engine/ports.ts';
import { readInput } from './input-fields.ts';
import type { AnyOperation } from './operation.ts';
import { type OperationClient, operationClient } from './operation-client.ts';
import type { OperationContext } from './operation-context.ts';

/** The room of the bridge in which operations are called by name. */
const ROOM = 'operations';

/** A command of the data dir's owner, in a terminal: nobody can answer there while it waits. */
const terminal = (signal?: AbortSignal): Caller => ({
  sessionId: null,
  isAtTerminal: true,
  isPerson: true,
  ...(signal && { signal }),
});

/** What the process that holds the data dir offers to commands. What they ask for ends when they do. */
export function operationProcedures(
  operations: readonly AnyOperation[],
  context: OperationContext,
): RemoteProcedures {
  const procedures = operations.map((operation) => {
    const run = async (input: unknown, signal?: AbortSignal) =>
      await operation.run(context, readInput(operation.input, input), terminal(signal));
    return [operation.name, Object.assign(run, { isCancellable: true as const })];
  });
  return { [ROOM]: Object.fromEntries(procedures) };
}

/** The operations of the process behind a bridge, this one or another. */
export function bridgedOperations(bridge: Bridge): OperationClient {
  return operationClient((name, input) => bridge.call(ROOM, name, [input]));
}
