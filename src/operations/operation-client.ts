import type { AnyOperation, InputOf, OutputOf } from './operation.ts';
import type { OperationTable } from './table.ts';

/** `search_tools` as a method: `searchTools`. */
type MethodName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<MethodName<Tail>>}`
  : Name;

/** The output of an operation, by name. */
export type Answer<Name extends OperationTable[number]['name']> = OutputOf<
  Extract<OperationTable[number], { readonly name: Name }>
>;

export interface CallOptions {
  /** Cancels the call and the work it started. */
  readonly signal?: AbortSignal;
}

type Method<O extends AnyOperation> =
  Record<string, never> extends InputOf<O>
    ? (input?: InputOf<O>, options?: CallOptions) => Promise<OutputOf<O>>
    : (input: InputOf<O>, options?: CallOptions) => Promise<OutputOf<O>>;

/** Every operation of a table as a method from its input to its output. */
export type OperationClient<Table extends readonly AnyOperation[] = OperationTable> = {
  readonly [O in Table[number] as MethodName<O['name']>]: Method<O>;
};

/** `call` sends an operation by name, over any transport. Needs only the table's type, not the table. */
export function operationClient<Table extends readonly AnyOperation[] = OperationTable>(
  call: (name: string, input: unknown, options: CallOptions) => Promise<unknown>,
): OperationClient<Table> {
  return new Proxy({} as OperationClient<Table>, {
    get(_, method) {
      // `await` on the client looks for a `then` method.
      if (typeof method !== 'string' || method === 'then') return undefined;
      const name = method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return (input: unknown = {}, options: CallOptions = {}) => call(name, input, options);
    },
  });
}
