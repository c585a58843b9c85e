import type { z } from 'zod';
import type { Caller } from '../engine/gateway.ts';
import type { Right } from '../engine/people/roles.ts';
import type { OperationContext } from './operation-context.ts';

/** As JSON carries it: nobody changes what was answered, and `undefined` is left out. */
export type Immutable<T> = T extends object
  ? { readonly [K in keyof T]: Immutable<Exclude<T[K], undefined>> }
  : T;

/** A file made of an answer, for `?format=NAME`. */
export interface HttpFile<Output> {
  readonly mediaType: string;
  write(output: Output): string;
}

/** A route under `/api`. Parts of the path that begin with `:` are fields of the input. */
export interface HttpRoute<Output = never> {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** By field of the input: what it is called in the query, where that differs. */
  readonly query?: Readonly<Record<string, string>>;
  /** Values of fields that this route does not leave to its caller, or whose default differs here. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** By name of the format. */
  readonly files?: Readonly<Record<string, HttpFile<Output>>>;
}

/** A tool that MCP clients see. */
export interface McpTool {
  readonly tool: `pml_${string}`;
  readonly title: string;
  /** Begins with what it does. */
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
  /** What a model may give, where that is less than the whole input. */
  readonly input?: z.ZodObject;
  /** What a model is answered, where that differs from the output. */
  readonly output?: z.ZodObject;
}

/**
 * One thing PML can be asked. This is its only declaration: the HTTP route and its right, the MCP tool, the typed
 * client, the bridge between processes, the OpenAPI document and the dashboard's types are derived from it.
 */
export interface Operation<
  Name extends string = string,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** In snake_case. The client's method is the same in camelCase. */
  readonly name: Name;
  /** What the caller needs to be allowed to do. */
  readonly right: Right;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly input: Input;
  readonly output: Output;
  /** Absent: reached by name alone. */
  readonly http?: HttpRoute<Immutable<z.output<Output>>>;
  readonly mcp?: McpTool;
  run(
    context: OperationContext,
    input: z.output<Input>,
    caller: Caller,
  ): Promise<Immutable<z.output<Output>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds operations of all inputs and outputs
export type AnyOperation = Operation<string, any, any>;

export function operation<const Name extends string, Input extends z.ZodObject, Output extends z.ZodType>(
  declared: Operation<Name, Input, Output>,
): Operation<Name, Input, Output> {
  return declared;
}

/** What a caller gives; what has a default may be left out. */
export type InputOf<O extends AnyOperation> = Immutable<z.input<O['input']>>;

/** What a caller is answered. */
export type OutputOf<O extends AnyOperation> = Immutable<z.output<O['output']>>;
