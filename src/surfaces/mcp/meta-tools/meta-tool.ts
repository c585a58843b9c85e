import { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { may } from '../../../engine/people/roles.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { jsonSchema } from '../../../operations/input-fields.ts';
import type { AnyOperation, McpTool } from '../../../operations/operation.ts';
import type { OperationContext } from '../../../operations/operation-context.ts';
import type { ClientRequest } from '../endpoint.ts';
import type { LogLevels } from '../pass-through/log-levels.ts';
import type { RecentTools } from '../recent-tools.ts';
import type { KeptResults } from '../results/kept-results.ts';
import type { Shrink } from '../results/shrink.ts';
import { answer } from './answer.ts';
import { readArguments } from './read-arguments.ts';

/** What the tools work with. */
export interface Workshop {
  readonly gateway: Gateway;
  readonly context: OperationContext;
  readonly results: KeptResults;
  readonly shrink: Shrink;
  readonly recent: RecentTools;
  readonly logLevels: LogLevels;
}

/** How a model is answered, where that is more than the operation's output as it is. */
export type Present<Args> = (args: Args, shop: Workshop, request: ClientRequest) => Promise<JsonObject>;

export interface MetaTool {
  readonly name: string;
  /** As clients list it. */
  readonly listed: JsonObject;
  call(args: unknown, shop: Workshop, request: ClientRequest): Promise<JsonObject>;
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
    async call(sent, shop, request) {
      if (!may(request.caller.who, operation.right))
        throw new PmlError('forbidden', `${name} needs the right to ${operation.right}`);
      return await run(readArguments(name, input, inputSchema, sent), shop, request);
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
