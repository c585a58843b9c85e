import { z } from 'zod';
import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest } from '../endpoint.ts';
import type { LogLevels } from '../pass-through/log-levels.ts';
import type { RecentTools } from '../recent-tools.ts';
import type { KeptResults } from '../results/kept-results.ts';
import type { Shrink } from '../results/shrink.ts';
import { readArguments } from './read-arguments.ts';

/** What the tools work with. */
export interface Workshop {
  readonly gateway: Gateway;
  readonly results: KeptResults;
  readonly shrink: Shrink;
  readonly recent: RecentTools;
  readonly logLevels: LogLevels;
}

export interface MetaToolFacts {
  readonly name: string;
  readonly title: string;
  /** Begins with what it does; the list adds the inventory. */
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface MetaTool extends MetaToolFacts {
  readonly inputSchema: JsonObject;
  call(args: unknown, shop: Workshop, request: ClientRequest): Promise<JsonObject>;
}

/** A tool of the gateway's own: one schema serves the list, the check of arguments and their types. */
export function metaTool<T extends z.ZodObject>(
  facts: MetaToolFacts,
  schema: T,
  run: (args: z.infer<T>, shop: Workshop, request: ClientRequest) => Promise<JsonObject>,
): MetaTool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' }) as JsonObject;
  return {
    ...facts,
    inputSchema,
    call: async (args, shop, request) =>
      await run(readArguments(facts.name, schema, inputSchema, args), shop, request),
  };
}
