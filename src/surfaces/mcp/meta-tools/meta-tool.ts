import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type ErrorShape, PmlError } from '../../../core/vocabulary/pml-error.ts';
import { nearestName } from '../../../engine/catalogue/catalogue.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { may } from '../../../engine/people/roles.ts';
import type { CodeError, JsonObject } from '../../../engine/ports.ts';
import { jsonSchema } from '../../../operations/input-fields.ts';
import type { AnyOperation, McpTool } from '../../../operations/operation.ts';
import type { OperationContext } from '../../../operations/operation-context.ts';
import type { ClientRequest } from '../endpoint.ts';
import type { LogLevels } from '../pass-through/log-levels.ts';
import type { KeptResults } from '../results/kept-results.ts';
import type { Shrink } from '../results/shrink.ts';

/** What the tools work with. */
export interface ToolContext {
  readonly gateway: Gateway;
  readonly context: OperationContext;
  readonly results: KeptResults;
  readonly shrink: Shrink;
  readonly recent: RecentTools;
  readonly logLevels: LogLevels;
}

/** How a model is answered, where that is more than the operation's output as it is. */
export type Present<Args> = (
  args: Args,
  toolContext: ToolContext,
  request: ClientRequest,
) => Promise<JsonObject>;

export interface MetaTool {
  readonly name: string;
  /** As clients list it. */
  readonly listed: JsonObject;
  call(args: unknown, toolContext: ToolContext, request: ClientRequest): Promise<JsonObject>;
}

/** An operation as a tool: one schema serves the list, the check of arguments and their types. */
export function metaTool(operation: AnyOperation, mcp: McpTool, present?: Present<never>): MetaTool {
  const { tool: name, title, description, annotations } = mcp;
  const input = mcp.input ?? operation.input;
  const { additionalProperties: _, ...inputSchema } = jsonSchema(input, 'input');
  const outputSchema = outline(mcp.output ?? operation.output);
  const run: Present<unknown> =
    (present as Present<unknown> | undefined) ??
    (async (args, { context }, { caller }) => answer(await operation.run(context, args, caller)));
  return {
    name,
    listed: { name, title, description, inputSchema, outputSchema, annotations },
    async call(sent, toolContext, request) {
      if (!may(request.caller.who, operation.right))
        throw new PmlError('forbidden', `${name} needs the right to ${operation.right}`);
      return await run(readArguments(name, input, inputSchema, sent), toolContext, request);
    },
  };
}

/**
 * What a tool answers with, one level deep: which fields there are and of which type. All tools together are listed in
 * 5 KB, and a model reads the answer itself.
 */
function outline(output: z.ZodType): JsonObject {
  if (!(output instanceof z.ZodObject)) return { type: 'object' };
  const { properties } = jsonSchema(output, 'output') as {
    readonly properties: Readonly<Record<string, JsonObject>>;
  };
  const fields = Object.entries(output.shape as Readonly<Record<string, z.ZodType>>).map(([name, field]) => {
    const type = properties[name]?.type ?? typeOf(field);
    return [name, type === undefined ? {} : { type }];
  });
  return { type: 'object', properties: Object.fromEntries(fields) };
}

/** Of a field whose schema is described elsewhere or as one of several. */
function typeOf(field: z.ZodType): unknown {
  const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
  if (inner instanceof z.ZodNullable) return [typeOf(inner.unwrap() as z.ZodType), 'null'];
  return inner instanceof z.ZodObject ? 'object' : jsonSchema(inner, 'output').type;
}

/** A tool's result as data, and the same as text for clients that read only that; other content follows. */
export function answer(structured: JsonObject, blocks: readonly JsonObject[] = []): JsonObject {
  const content = [{ type: 'text', text: JSON.stringify(structured) }, ...blocks];
  return { content, structuredContent: structured };
}

/** What failed, where a model sees it and can do better. */
export function failure(structured: JsonObject, blocks: readonly JsonObject[] = []): JsonObject {
  return { ...answer(structured, blocks), isError: true };
}

export function refusal(error: ErrorShape): JsonObject {
  return failure({ status: 'error', error: errorToWire(error) });
}

/** Without what only the transparent endpoint passes on; with the place in the code, where there is one. */
export function errorToWire({ code, message, hint, line, column }: CodeError): CodeError {
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

const STRUCTURED = new Set(['object', 'array', 'integer', 'number', 'boolean']);

/**
 * Arguments as models send them: whole or in parts as JSON in a string. Throws with every field that
 * is wrong and the form it should have.
 */
export function readArguments<T extends z.ZodObject>(
  tool: string,
  schema: T,
  published: JsonObject,
  sent: unknown,
): z.infer<T> {
  const args = parsed(sent ?? {}, 'object');
  if (!isObject(args)) {
    throw new PmlError('invalid_argument', `${tool} takes its arguments as an object, not ${formOf(args)}`);
  }
  const properties = published.properties as Readonly<Record<string, { readonly type?: string }>>;
  const loosened = Object.entries(args)
    // Some clients fill in what was left out.
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, parsed(value, properties[name]?.type)]);
  const checked = schema.safeParse(Object.fromEntries(loosened));
  const names = Object.keys(properties);
  // A misspelt limit that is silently ignored limits nothing.
  const strangers = loosened.map(([name]) => String(name)).filter((name) => !names.includes(name));
  if (checked.success && strangers.length === 0) return checked.data;
  const problems = (checked.error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
  );
  const slips = strangers.map((name) => {
    const nearest = nearestName(name, names);
    return `Unknown argument "${name}"${nearest === null ? '' : `, did you mean "${nearest}"?`}`;
  });
  throw new PmlError('invalid_argument', `${tool}: ${[...problems, ...slips].join('; ')}`, {
    hint: `Arguments: ${names.join(', ')}.`,
  });
}

/** The value meant by a string where something else is wanted; the string itself when there is none. */
function parsed(value: unknown, wanted: string | undefined): unknown {
  if (typeof value !== 'string' || wanted === undefined || !STRUCTURED.has(wanted)) return value;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === 'string' && read !== value ? parsed(read, wanted) : read;
  } catch {
    if (wanted !== 'array') return value;
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text that does not parse as JSON' : `a ${typeof value}`;
}

const DEFAULTS = { tools: 5, sessions: 1_000 };

/** The tools each session used last: what a search takes as its context. */
export class RecentTools {
  readonly #sessions = new LRUCache<string, readonly string[]>({ max: DEFAULTS.sessions });

  add(sessionId: string | null, tool: string): void {
    if (sessionId === null) return;
    const others = this.of(sessionId).filter((other) => other !== tool);
    this.#sessions.set(sessionId, [...others, tool].slice(-DEFAULTS.tools));
  }

  /** Oldest first. */
  of(sessionId: string | null): readonly string[] {
    return (sessionId === null ? undefined : this.#sessions.get(sessionId)) ?? [];
  }
}
