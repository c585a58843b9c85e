import type { z } from 'zod';
import type { Caller } from '../engine/gateway.ts';
import type { Right } from '../engine/people/roles.ts';
import type { OperationContext } from './operation-context.ts';

/** A value as JSON carries it: read-only, and without `undefined`. */
export type Immutable<T> = T extends object
  ? { readonly [K in keyof T]: Immutable<Exclude<T[K], undefined>> }
  : T;

/** Converts an output to a file, for `?format=NAME`. */
export interface HttpFile<Output> {
  readonly mediaType: string;
  write(output: Output): string;
}

/** A route under `/api`. Path segments that begin with `:` are fields of the input. */
export interface HttpRoute<Output = never> {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** Names of query parameters that differ from their input field, by field. */
  readonly query?: Readonly<Record<string, string>>;
  /** Values of fields that this route fixes, or whose default differs here. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** By format. */
  readonly files?: Readonly<Record<string, HttpFile<Output>>>;
}

/** A tool that MCP clients see. */
export interface McpTool {
  readonly tool: `pml_${string}`;
  /** Position in the list, from 1. A new tool comes last, because clients cache the list. */
  readonly place: number;
  readonly title: string;
  /** Starts with what the tool does. */
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
  /** It may take long: clients may call it as a task. */
  readonly mayBeTask?: true;
  /** Input of the tool, if it is less than the operation's. */
  readonly input?: z.ZodObject;
}

/**
 * One operation of PML. This is its only declaration: the HTTP route and its right, the MCP tool, the typed
 * client, the bridge between processes, the OpenAPI document and the dashboard's types are derived from it.
 */
export interface Operation<
  Name extends string = string,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** In snake_case; the client's method is the same name in camelCase. */
  readonly name: Name;
  /** The right a caller needs. */
  readonly right: Right;
  /**
   * Shows and does nothing that is outside of its caller's scope. Without it, keys that may use only some tools cannot
   * call it.
   */
  readonly scoped?: true;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly input: Input;
  readonly output: Output;
  /** Without it, the operation can only be called by name. */
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

/** Input as a caller passes it; fields with a default are optional. */
export type InputOf<O extends AnyOperation> = Immutable<z.input<O['input']>>;

/** Output as a caller receives it. */
export type OutputOf<O extends AnyOperation> = Immutable<z.output<O['output']>>;
