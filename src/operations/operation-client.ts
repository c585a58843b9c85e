import type { AnyOperation, InputOf, OutputOf } from './operation.ts';
import type { OperationTable } from './table.ts';

/** `search_tools` as a method: `searchTools`. */
type MethodName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<MethodName<Tail>>}`
  : Name;

export interface CallOptions {
  /** Ends the call, and what it runs. */
  readonly signal?: AbortSignal;
}

type Method<O extends AnyOperation> =
  Record<string, never> extends InputOf<O>
    ? (input?: InputOf<O>, options?: CallOptions) => Promise<OutputOf<O>>
    : (input: InputOf<O>, options?: CallOptions) => Promise<OutputOf<O>>;

/** Every operation of a table as a method that takes its input and gives its output. */
export type OperationClient<Table extends readonly AnyOperation[] = OperationTable> = {
  readonly [O in Table[number] as MethodName<O['name']>]: Method<O>;
};

/** `call` carries an operation by its name, whichever way. The table itself is not needed for that, only its type. */
export function operationClient<Table extends readonly AnyOperation[] = OperationTable>(
  call: (name: string, input: unknown, options: CallOptions) => Promise<unknown>,
): OperationClient<Table> {
  return new Proxy({} as OperationClient<Table>, {
    get(_, method) {
      // A promise that gives the client looks for `then`.
      if (typeof method !== 'string' || method === 'then') return undefined;
      const name = method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return (input: unknown = {}, options: CallOptions = {}) => call(name, input, options);
    },
  });
}
