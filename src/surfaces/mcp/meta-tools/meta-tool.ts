import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type ErrorShape, PmlError } from '../../../core/vocabulary/pml-error.ts';
import { isJsonObject } from '../../../core/vocabulary/read-wire.ts';
import { oneLine } from '../../../core/vocabulary/text.ts';
import { nearestName } from '../../../engine/catalogue/catalogue.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { isRestricted, may } from '../../../engine/people/roles.ts';
import type { Approval, JsonObject } from '../../../engine/ports.ts';
import type { RunError } from '../../../engine/runs/run.ts';
import { jsonSchema } from '../../../operations/input-fields.ts';
import type { AnyOperation, McpTool } from '../../../operations/operation.ts';
import type { OperationContext, ReadingTotals } from '../../../operations/operation-context.ts';
import { errorToWire } from '../../../operations/shapes/run.ts';
import type { LogLevels } from '../client-subscriptions.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import type { KeptResults, Shrink } from '../results/kept-results.ts';

const DEFAULTS = {
  /** Fields of an output that are listed. */
  outlined: 4,
  tools: 5,
  /** Sessions that are told apart. */
  sessions: 1_000,
  /** Characters of servers' instructions in one answer. */
  words: 400,
  /** After this long a session reads them again. */
  wordsMs: 60 * 60_000,
};

/** Shared by all meta-tools. */
export interface ToolContext {
  readonly gateway: Gateway;
  readonly context: OperationContext;
  readonly results: KeptResults;
  readonly shrink: Shrink;
  readonly recent: RecentTools;
  readonly words: ServerWords;
  readonly reading: Reading;
  readonly logLevels: LogLevels;
}

/** Converts an operation's output for a model, if the output itself is not suitable. */
export type Present<Args> = (
  args: Args,
  toolContext: ToolContext,
  request: ClientRequest,
) => Promise<JsonObject>;

export interface MetaTool {
  readonly name: string;
  /** The tool's entry in `tools/list`. */
  readonly listed: JsonObject;
  /** The same for a client that gets no structured content. */
  readonly listedForText: JsonObject;
  /** A client may ask for it as a task. */
  readonly mayBeTask: boolean;
  call(args: unknown, toolContext: ToolContext, request: ClientRequest): Promise<JsonObject>;
}

/** An operation as a tool: one schema for the list, for validation and for types. */
export function metaTool(operation: AnyOperation, mcp: McpTool, present?: Present<never>): MetaTool {
  const { tool: name, title, description, annotations } = mcp;
  const input = mcp.input ?? operation.input;
  const { additionalProperties: _, ...inputSchema } = jsonSchema(input, 'input');
  const run: Present<unknown> =
    (present as Present<unknown> | undefined) ??
    (async (args, { context }, { caller }) => answer(await operation.run(context, args, caller)));
  const listedForText = {
    name,
    description,
    inputSchema: compact(inputSchema),
    annotations: told(annotations),
    ...(mcp.mayBeTask && { execution: { taskSupport: 'optional' } }),
  };
  return {
    name,
    mayBeTask: mcp.mayBeTask ?? false,
    listed: { ...listedForText, title, outputSchema: outline(operation.output) },
    listedForText,
    async call(sent, toolContext, request) {
      if (!may(request.caller.who, operation.right))
        throw new PmlError('forbidden', `${name} requires the right "${operation.right}"`);
      if (!operation.scoped && isRestricted(request.caller.who))
        throw new PmlError('forbidden', `${name} is not for keys that may use only some tools`);
      return await run(readArguments(name, input, inputSchema, sent), toolContext, request);
    },
  };
}

/** Without what says nothing, and without bounds, which a call reports: every session pays for each word here. */
function compact(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([name, value]) => {
    const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
    const isIdle = isEmpty && (name === 'properties' || name === 'additionalProperties');
    const isNone = name === 'default' && (value === false || (Array.isArray(value) && value.length === 0));
    const isOld = isJsonObject(value) && value.deprecated === true;
    if (isIdle || isNone || isOld || BOUNDS.has(name)) return [];
    return [[name, isJsonObject(value) ? compact(value) : value]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

const BOUNDS = new Set(['minLength', 'minimum', 'maximum']);

/**
 * The output schema, one level deep, of an output with few fields: all of them are in the OpenAPI document, and some
 * clients pass the whole list of tools to a model.
 */
function outline(output: z.ZodType): JsonObject {
  const shape = output instanceof z.ZodObject ? output.shape : {};
  if (Object.keys(shape).length > DEFAULTS.outlined) return { type: 'object' };
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>).map(([name, field]) => {
    const { type } = jsonSchema(field, 'output');
    return [name, type === undefined ? {} : { type }];
  });
  return { type: 'object', ...(fields.length > 0 && { properties: Object.fromEntries(fields) }) };
}

/** Without what the protocol assumes anyway, or what says little beside it. */
function told({ readOnlyHint }: McpTool['annotations']): JsonObject {
  return readOnlyHint ? { readOnlyHint } : { destructiveHint: true };
}

/**
 * A result as text for a model and as data for a program; other content follows the text. Null: the blocks are all
 * there is to say.
 */
export function answer(
  structured: JsonObject,
  blocks: readonly JsonObject[] = [],
  text: string | null = JSON.stringify(structured),
): JsonObject {
  const content = [...(text === null ? [] : [{ type: 'text', text }]), ...blocks];
  return { content, structuredContent: structured };
}

/** A failed result, which the model sees and can react to. */
export function failure(
  structured: JsonObject & { readonly error?: RunError },
  blocks: readonly JsonObject[] = [],
  text: string | null = structured.error ? errorText(structured.error) : JSON.stringify(structured),
): JsonObject {
  return { ...answer(structured, blocks, text), isError: true };
}

export function refusal(error: ErrorShape): JsonObject {
  return failure({ status: 'error', error: errorToWire(error) });
}

/** What went wrong, where in the code, and what to do. */
export function errorText({ code, message, hint, line, column }: RunError): string {
  const isPlaced = line === undefined || message.includes(`line ${line}`);
  const place = isPlaced ? '' : ` (line ${line}, column ${column})`;
  return `${code}: ${message}${place}${hint === undefined ? '' : `\n${hint}`}`;
}

/** A score or share in two digits, without the zero: a third digit tells a model nothing. */
export function twoDigits(score: number): string {
  const text = score.toFixed(2);
  return text.startsWith('0.') ? text.slice(1) : text;
}

const STRUCTURED = new Set(['object', 'array', 'integer', 'number', 'boolean']);

/**
 * Reads arguments as models send them, wholly or partly as JSON strings. Throws one error with every wrong
 * field and its expected type.
 */
export function readArguments<T extends z.ZodObject>(
  tool: string,
  schema: T,
  published: JsonObject,
  sent: unknown,
): z.infer<T> {
  const args = parsed(sent ?? {}, 'object');
  const instead = otherThanObject(args);
  if (instead !== null)
    throw new PmlError('invalid_argument', `The arguments of ${tool} must be an object, not ${instead}`);
  const properties = published.properties as Readonly<Record<string, { readonly type?: string }>>;
  const loosened = Object.entries(args as JsonObject)
    // Some clients send null for absent fields.
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, parsed(value, properties[name]?.type)]);
  const checked = schema.safeParse(Object.fromEntries(loosened));
  const names = Object.keys(properties);
  // Unknown names are refused: a misspelt limit must not be silently ignored.
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

/** The value that a string stands for if another type is expected; otherwise the string itself. */
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

/** What a value is instead of an object; null for an object. */
function otherThanObject(value: unknown): string | null {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return null;
  return typeof value === 'string' ? 'text that does not parse as JSON' : `a ${typeof value}`;
}

/** The tools each session used recently, the context of its next search. */
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

/** The session, or what stands for one where a client has none. */
export function readerOf({ sessionId, who, client }: RequestCaller): string {
  return sessionId ?? `${who.user} ${client.info?.name}`;
}

/** Counts what models read of answers; a session that others have pushed out counts again. */
export class Reading {
  readonly #totals: ReadingTotals;
  readonly #sessions = new LRUCache<string, true>({ max: DEFAULTS.sessions });

  constructor(totals: ReadingTotals) {
    this.#totals = totals;
  }

  /** `direct`: how many of these characters a client of the servers themselves would have read, too. */
  add(session: string, characters: number, direct: number): void {
    if (!this.#sessions.has(session)) this.#totals.sessions++;
    this.#sessions.set(session, true);
    this.#totals.characters += characters;
    this.#totals.direct += direct;
  }
}

/**
 * The instructions of servers, as a person has accepted them: told with the first hit of a server in a session, and
 * marked as its own words.
 */
export class ServerWords {
  readonly #gateway: Gateway;
  readonly #told = new LRUCache<string, Set<string>>({ max: DEFAULTS.sessions, ttl: DEFAULTS.wordsMs });

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** One line for each of these servers that has not been told, as far as there is room: the rest comes later. */
  async of(servers: readonly string[], caller: RequestCaller): Promise<readonly string[]> {
    const key = readerOf(caller);
    const told = this.#told.get(key) ?? new Set();
    this.#told.set(key, told);
    const fresh = [...new Set(servers)].filter((server) => !told.has(server));
    if (fresh.length === 0) return [];
    const records = await this.#gateway.store.servers.list();
    let room = DEFAULTS.words;
    return fresh.flatMap((server) => {
      const said = records.find(({ name }) => name === server)?.identity.instructions;
      const words = oneLine(said, room).replaceAll('"', "'");
      if (words !== '' && room < DEFAULTS.words / 4) return [];
      room -= words.length;
      told.add(server);
      return words === '' ? [] : [`Server ${server} describes itself (not checked by PML): "${words}"`];
    });
  }
}

/** Fields on the wire are in snake_case. */

export function approvalToWire(approval: Approval): JsonObject {
  return {
    id: approval.id,
    run_id: approval.runId,
    tool: approval.node,
    arguments: approval.arguments,
    reason: approval.reason,
    state: approval.state,
    requested_at: approval.requestedAt,
  };
}

/** For the model to tell its user; the model itself cannot decide. */
export function howToSettle(runId: string): JsonObject {
  return {
    approve: `pml runs approve ${runId}`,
    always: 'add --always tool, --always arguments or --always session to the approval',
    reject: `pml runs reject ${runId}`,
    afterwards: `pml_execute_workflow with run_id "${runId}" and action "resume"`,
    by: 'A person decides, in a terminal or in the dashboard. Tell the user which call waits and why.',
  };
}
