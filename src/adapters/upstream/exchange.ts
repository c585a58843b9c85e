import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolRequestParams,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Client,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  type Progress,
  type StandardSchemaV1,
  type Tool,
} from '@modelcontextprotocol/client';
import { weighJson } from '../../core/vocabulary/read-wire.ts';
import type { JsonObject, UpstreamFailure, UpstreamOptions, UpstreamProgress } from '../../engine/ports.ts';
import { askClient, type Call, type InputRequest } from './ask-router.ts';
import { reasonOf, rpcErrorIn, UpstreamFault, unavailable } from './failure.ts';
import { WatchedHttpTransport, withStreamWatch } from './http-transport.ts';
import {
  asCreatedTask,
  followModernTask,
  followTask,
  hasTasks,
  type TaskExchange,
  withTasks,
} from './upstream-tasks.ts';

const DEFAULTS = {
  /** Rounds of questions within one request. */
  rounds: 10,
  /** Pause before a round in which the server asked no question. */
  roundPauseMs: 250,
  /** How long a server may take to acknowledge that a task is cancelled. */
  cancelMs: 5_000,
  /** Tools of one server, and characters of all their definitions: more than an agent could choose from. */
  maxTools: 20_000,
  maxCharacters: 32 * 1024 * 1024,
  /** Characters of a name; a longer one does not fit into an index. */
  maxName: 512,
  /** Characters of one definition, and its nesting depth. */
  maxDefinition: 256 * 1024,
  maxDepth: 100,
  /** Tools left out that are reported one by one; the rest are counted. */
  maxNotes: 10,
};

/** The SDK's timeout, set to the longest a timer can hold: our own deadline applies instead. */
const NEVER_MS = 2 ** 31 - 1;
/** Passes results through unchanged: an SDK schema would drop fields it does not know. */
const UNTOUCHED: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'pml', validate: (value) => ({ value: value as JsonObject }) },
};

export interface ExchangeOptions extends UpstreamOptions {
  readonly logLevel?: string | null;
}

/** Sends requests to a server, in either protocol era, and returns the results unchanged. */
export class Exchange {
  readonly #server: string;
  readonly #client: Client;
  #mirrored: ReadonlyMap<string, Tool> = new Map();

  constructor(server: string, client: Client) {
    this.#server = server;
    this.#client = client;
  }

  get modern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  /**
   * Tools may require arguments to be repeated in HTTP headers (SEP-2243). The SDK does this if it knows the
   * tool's definition, and rejects invalid header names; tools that use those are left out.
   */
  async withSoundHeaders(tools: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const mirrored = tools.filter((tool) =>
      JSON.stringify(tool.inputSchema ?? {}).includes('"x-mcp-header"'),
    );
    if (mirrored.length === 0) return tools;
    const sound = new Set((await this.#client.listTools()).tools.map(({ name }) => name));
    // Without output schemas: results are not validated here.
    this.#mirrored = new Map(
      mirrored.map(({ outputSchema: _, ...tool }) => [String(tool.name), tool as Tool]),
    );
    return tools.filter((tool) => sound.has(String(tool.name)));
  }

  /** Sends the request, and repeats it with the answers each time the server asks for input. */
  async run(method: string, params: JsonObject, call: Call, options: ExchangeOptions): Promise<JsonObject> {
    let answers: JsonObject = {};
    for (let round = 0; round < DEFAULTS.rounds; round++) {
      const result = await this.#sendOrFollow(method, { ...params, ...answers }, call, options);
      if (!this.modern || !isInputRequiredResult(result) || options.passInputRequired) return result;
      answers = await this.#answer(result, call);
    }
    throw new UpstreamFault({
      code: 'upstream_error',
      errorType: 'UNKNOWN',
      message: `Server "${this.#server}" still asks for input after ${DEFAULTS.rounds} rounds of "${method}"`,
    });
  }

  async #sendOrFollow(
    method: string,
    params: JsonObject,
    call: Call,
    options: ExchangeOptions,
  ): Promise<JsonObject> {
    if (method !== 'tools/call') return await this.#send(method, params, call, options);
    if (this.modern) {
      if (options.passTask) return asCreatedTask(await this.#send(method, params, call, options));
      // The server decides what runs as a task, for those who say that they know tasks.
      const declared = hasTasks(this.#client.getServerCapabilities())
        ? { ...options, client: withTasks(options.client) }
        : options;
      const result = await this.#send(method, params, call, declared);
      return result.task === undefined
        ? result
        : await followModernTask(result.task, this.#tasks(call, declared));
    }
    if (!options.asTask || params.task !== undefined) return await this.#send(method, params, call, options);
    const created = await this.#send(method, { ...params, task: {} }, call, options);
    // A server may run it at once all the same.
    return created.task === undefined ? created : await followTask(created.task, this.#tasks(call, options));
  }

  #tasks(call: Call, options: ExchangeOptions): TaskExchange {
    return {
      server: this.#server,
      signal: call.deadline.signal,
      send: (asked, sent) => this.#send(asked, sent, call, options),
      answers: (inputRequests) => this.#answer({ inputRequests }, call),
      cancel: (taskId) => {
        const request = { method: 'tasks/cancel', params: { taskId, _meta: this.#meta(options) } };
        this.#client.request(request, UNTOUCHED, { timeout: DEFAULTS.cancelMs }).catch(() => {});
      },
      touch: () => call.deadline.touch(),
      ...(options.onProgress && { onProgress: options.onProgress }),
    };
  }

  async #send(method: string, params: JsonObject, call: Call, options: ExchangeOptions): Promise<JsonObject> {
    const sent = { ...params, _meta: { ...this.#meta(options), ...options.meta, ...metaOf(params) } };
    const onprogress = (progress: Progress) => {
      call.deadline.touch();
      options.onProgress?.(progress as UpstreamProgress);
    };
    const request = (signal: AbortSignal): Promise<JsonObject> => {
      const sdk = { signal, timeout: NEVER_MS, allowInputRequired: true, onprogress };
      const tool = method === 'tools/call' ? this.#mirrored.get(String(params.name)) : undefined;
      if (!tool) return this.#client.request({ method, params: sent }, UNTOUCHED, sdk);
      return this.#client.callTool(sent as CallToolRequestParams, { ...sdk, toolDefinition: tool });
    };
    const { signal } = call.deadline;
    const isStream = this.#client.transport instanceof WatchedHttpTransport;
    const outcome = await (isStream ? withStreamWatch(signal, request) : valued(request(signal))).catch(
      (error) => {
        throw rpcErrorIn(error);
      },
    );
    if ('value' in outcome) return outcome.value;
    const { cut } = outcome;
    const why = cut?.message ?? 'it closed the connection';
    throw new UpstreamFault(unavailable(this.#server, `${why} during "${method}"`), cut ?? undefined);
  }

  async #answer(result: JsonObject, call: Call): Promise<JsonObject> {
    const { inputRequests, requestState } = result;
    const questions = Object.entries((inputRequests ?? {}) as Record<string, InputRequest>);
    const { signal } = call.deadline;
    const ask = async ([key, { method, params }]: [string, InputRequest]) => {
      try {
        return [key, await askClient([call], method, params ?? {}, signal)] as const;
      } catch (error) {
        throw new UpstreamFault(unanswered(this.#server, method, error), error);
      }
    };
    const answered = await Promise.all(questions.map(ask));
    if (questions.length === 0) await sleep(DEFAULTS.roundPauseMs, undefined, { signal });
    return {
      ...(questions.length > 0 && { inputResponses: Object.fromEntries(answered) }),
      ...(requestState !== undefined && { requestState }),
    };
  }

  /** In the modern era each request names its client; before, the connection did so once. */
  #meta({ client, logLevel }: ExchangeOptions): JsonObject {
    if (!this.modern) return {};
    return {
      [CLIENT_CAPABILITIES_META_KEY]: client?.capabilities ?? {},
      ...(client?.info && { [CLIENT_INFO_META_KEY]: client.info }),
      ...(logLevel && { [LOG_LEVEL_META_KEY]: logLevel }),
    };
  }
}

function metaOf(params: JsonObject): JsonObject {
  return (params._meta ?? {}) as JsonObject;
}

function unanswered(server: string, method: string, error: unknown): UpstreamFailure {
  return {
    code: 'forbidden',
    errorType: 'PERMISSION',
    message: `Server "${server}" sent ${method} and got no answer: ${reasonOf(error)}`,
  };
}

/** The valid tools of a server's list, up to the limits, and notes about those left out and why. */
export class ListedTools {
  readonly tools: JsonObject[] = [];
  readonly #names = new Set<string>();
  readonly #notes: string[] = [];
  #leftOut = 0;
  #characters = 0;

  /** Returns false once the limit is reached. */
  add(page: readonly unknown[]): boolean {
    for (const tool of page) {
      const { characters, depth } = weighJson(tool);
      this.#characters += characters;
      const isFull = this.tools.length >= DEFAULTS.maxTools || this.#characters > DEFAULTS.maxCharacters;
      if (isFull) {
        this.#notes.unshift(
          `Only the first ${this.tools.length} tools are used: it lists more than ${DEFAULTS.maxTools}, or more than ${DEFAULTS.maxCharacters} characters`,
        );
        return false;
      }
      const fault = this.#fault(tool, characters, depth);
      if (fault === null) this.tools.push(tool as JsonObject);
      else if (++this.#leftOut <= DEFAULTS.maxNotes) this.#notes.push(`A tool is left out: ${fault}`);
    }
    return true;
  }

  get notes(): readonly string[] {
    const more = this.#leftOut - DEFAULTS.maxNotes;
    return more > 0 ? [...this.#notes, `${more} more tools are left out`] : this.#notes;
  }

  /** Why the tool is rejected; null if it is accepted. */
  #fault(tool: unknown, characters: number, depth: number): string | null {
    if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return 'it is not an object';
    const { name, inputSchema = {} } = tool as JsonObject;
    if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
    if (name.length > DEFAULTS.maxName) return `its name has ${name.length} characters`;
    if (/\p{Cc}/u.test(name)) return `its name ${JSON.stringify(name)} has control characters`;
    if (this.#names.has(name)) return `${name} is listed twice`;
    if (typeof inputSchema !== 'object' || inputSchema === null)
      return `the schema of ${name} is not an object`;
    if (characters > DEFAULTS.maxDefinition) return `the definition of ${name} has ${characters} characters`;
    if (depth > DEFAULTS.maxDepth) return `the definition of ${name} is nested ${depth} levels deep`;
    this.#names.add(name);
    return null;
  }
}

async function valued<T>(answer: Promise<T>): Promise<{ readonly value: T }> {
  return { value: await answer };
}
