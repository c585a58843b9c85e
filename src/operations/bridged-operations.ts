import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Caller } from '../engine/gateway.ts';
import type { Bridge, BridgeCall } from '../engine/ports.ts';
import { readInput } from './input-fields.ts';
import type { AnyOperation } from './operation.ts';
import { type OperationClient, operationClient } from './operation-client.ts';
import type { OperationContext } from './operation-context.ts';

/** Runs the operations that commands call. An operation is cancelled when its command ends. */
export type AnswerCall = (call: BridgeCall, signal?: AbortSignal) => Promise<unknown>;

export function operationAnswers(operations: readonly AnyOperation[], context: OperationContext): AnswerCall {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return async ({ operation: name, input, user }, signal) => {
    const operation = byName.get(name);
    if (operation)
      return await operation.run(context, readInput(operation.input, input), terminal(user, signal));
    throw new PmlError('not_found', `This PML has no operation ${name}`, {
      hint: 'The two processes may be of different versions: stop the older one.',
    });
  };
}

/** A command that the data folder's owner runs in a terminal: nobody can answer questions while it waits. */
const terminal = (user: string, signal?: AbortSignal): Caller => ({
  sessionId: null,
  isAtTerminal: true,
  terminalUser: user,
  isPerson: true,
  ...(signal && { signal }),
});

/** The operations of the process behind a bridge, this one or another. */
export function bridgedOperations(bridge: Bridge): OperationClient {
  return operationClient((name, input) => bridge.call(name, input));
}
