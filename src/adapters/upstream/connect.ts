import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ServerSettings, TokenStore, UpstreamClient, UpstreamFailure } from '../../engine/ports.ts';
import { authorization } from './authorized-fetch.ts';
import { confined } from './confine.ts';
import { Connection, type ConnectionListener } from './connection.ts';
import { failureOf, NEXT_CALL_TRIES, reasonOf, UpstreamFault, unavailable } from './failure.ts';
import { WatchedHttpTransport } from './http-transport.ts';
import type { ChildRegistry } from './process-tree.ts';
import { type RecentLines, StdioTransport } from './stdio-transport.ts';
import { letTasksThrough } from './upstream-tasks.ts';

const DEFAULTS = {
  /** `npx` may have to download the server first. */
  startMs: 60_000,
  /**
   * A server that does not answer the first request of the 2026-07-28 era within this time is treated as
   * legacy.
   */
  probeMs: 20_000,
  /** For a legacy event stream; a server that restarts is back within this time. */
  streamRetry: {
    initialReconnectionDelay: 500,
    maxReconnectionDelay: 10_000,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 5,
  },
  /** How long a server may take to ask for roots, and to use them, before it is called; most do not ask. */
  roots: { askMs: 500, useMs: 50 },
  /** Lines of what the server wrote that a message quotes. */
  lines: 5,
  /** Variables that a hint names. */
  variables: 3,
  /** Characters of a line that are looked at. */
  chars: 1_000,
};

/**
 * A 2025-11-25 connection declares its clients' capabilities once, for all of them; each question is checked
 * again.
 */
const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
};

export interface ConnectOptions {
  readonly settings: ServerSettings;
  readonly listener: ConnectionListener;
  /** Aborts the start and ends what it has started. */
  readonly signal: AbortSignal;
  readonly info: { readonly name: string; readonly version: string };
  readonly registry: ChildRegistry;
  readonly dataDir: string;
  readonly tokens: TokenStore;
  readonly stderr: RecentLines;
  onGarbage(line: string): void;
  /** The server is known to belong to the era before 2026-07-28. */
  readonly knownLegacy: boolean;
  readonly startMs?: number;
  readonly probeMs?: number;
  readonly graceMs?: number;
  readonly rootsClient?: () => UpstreamClient | undefined;
}

export interface Connected {
  readonly connection: Connection;
  readonly pid: number | null;
  /** How the server's process ended, in words; null while it runs, or if the server is not a process. */
  readonly exit: () => string | null;
}

/** Starts or reaches the server and negotiates a protocol era. Rejects with an UpstreamFault. */
export function connect(options: ConnectOptions): Promise<Connected> {
  const { transport } = options.settings;
  if (transport === 'openapi') return connectOpenApi(options);
  return transport === 'stdio' ? connectStdio(options) : connectHttp(options);
}

/** The document is read at each start. */
async function connectOpenApi(options: ConnectOptions): Promise<Connected> {
  const { settings, stderr } = options;
  if (settings.transport !== 'openapi') throw new TypeError('not an API');
  const { OpenApiTransport } = await import('./openapi-transport.ts');
  const transport = new OpenApiTransport(settings, (note) => stderr.append(`[pml] ${note}\n`));
  try {
    return await open(transport, options, true);
  } catch (error) {
    throw new UpstreamFault(failureOf(settings.name, error), error);
  }
}

async function connectStdio(options: ConnectOptions, legacy = options.knownLegacy): Promise<Connected> {
  const transport = stdioTransport(options);
  const written = options.stderr.count;
  try {
    return await open(transport, options, legacy);
  } catch (error) {
    // Some SDKs of the older era exit when a message precedes their handshake.
    const endedByProbe = !legacy && transport.exit !== null && isNegotiationError(error);
    if (endedByProbe) return connectStdio(options, true);
    throw startFault(options.settings, error, transport.exit, options.stderr.list(written));
  }
}

async function connectHttp(options: ConnectOptions): Promise<Connected> {
  const { settings } = options;
  if (settings.transport === 'stdio' || settings.transport === 'openapi')
    throw new TypeError('not reached over MCP');
  const url = new URL(settings.url);
  const access = await authorization(settings, options.tokens);
  const sse = () => open(new SSEClientTransport(url, access), options, true);
  try {
    if (settings.transport === 'sse') return await sse();
    const streamRetry = { reconnectionOptions: DEFAULTS.streamRetry };
    return await open(new WatchedHttpTransport(url, { ...access, ...streamRetry }), options, false);
  } catch (error) {
    if (error instanceof UpstreamFault) throw error;
    // The specification's way to detect a server that only supports the older transport.
    const olderTransport = settings.transport === 'http' && isClientError(error);
    const older = olderTransport ? await sse().catch(() => null) : null;
    if (older) return older;
    throw new UpstreamFault(failureOf(settings.name, error), error);
  }
}

async function open(transport: Transport, options: ConnectOptions, legacy: boolean): Promise<Connected> {
  const { startMs = DEFAULTS.startMs, probeMs = DEFAULTS.probeMs } = options;
  const client = new Client(options.info, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, startMs) } },
  });
  const { rootsClient } = options;
  const connection = new Connection(options.settings.name, client, options.listener, rootsClient);
  const late = AbortSignal.timeout(startMs);
  const giveUp = AbortSignal.any([options.signal, late]);
  const end = () => void transport.close();
  giveUp.addEventListener('abort', end, { once: true });
  try {
    options.signal.throwIfAborted();
    await client.connect(transport, { timeout: startMs, ...(legacy && { prior: { kind: 'legacy' } }) });
    options.signal.throwIfAborted();
    if (connection.modern) letTasksThrough(transport);
  } catch (error) {
    await transport.close().catch(() => {});
    throw late.aborted ? new UpstreamFault(silent(options.settings.name, startMs), error) : error;
  } finally {
    giveUp.removeEventListener('abort', end);
  }
  connection.established();
  // A server that ends or hangs here fails its first call, which says why.
  if (rootsClient?.()?.capabilities.roots) await connection.rootsTold(DEFAULTS.roots).catch(() => {});
  const process = transport instanceof StdioTransport ? transport : null;
  return { connection, pid: process?.pid ?? null, exit: () => process?.exit ?? null };
}

function stdioTransport(options: ConnectOptions): StdioTransport {
  const { settings, registry, stderr, onGarbage, graceMs, dataDir } = options;
  if (settings.transport !== 'stdio') throw new TypeError('not a process');
  const { name: server } = settings;
  const { command, args, env, cwd } = confined(settings, dataDir);
  const limits = graceMs === undefined ? {} : { graceMs };
  return new StdioTransport({ server, command, args, env, cwd, registry, stderr, onGarbage, ...limits });
}

function silent(server: string, ms: number): UpstreamFailure {
  const failure = unavailable(server, `it did not respond within ${ms} ms of starting`);
  return { ...failure, code: 'upstream_timeout', errorType: 'TIMEOUT' };
}

function isNegotiationError(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

function isClientError(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 403;
}

/** A frame of a stack, the line of Node's version, a brace alone, or one field of a printed error. */
const NOISE =
  /^(?:at (?:async |new )?\S|Node\.js v\d|[\][{}()^ ]*$|(?:errno|code|syscall|hostname|requireStack): )/;
const ERROR = /error\]?:|\bfatal\b|\bpanic\b/i;
const COMPLAINT =
  /\b(?:required|requires|missing|must|cannot|please|invalid|failed|denied|refused|not (?:set|provided|found|defined))\b/i;
/** Said of a variable that the server lacks, not of one that it mentions. */
const LACK =
  /\b(?:required|requires|missing|must|please|provide|provided|set|pass|unset|undefined|expected|need|needs|no)\b/i;
const VARIABLE = /\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b/g;
const SECRET = /(?:^|_)(?:API|KEY|TOKEN|SECRET|PASSWORD|PAT|CREDENTIALS|DSN|URL|URI|ID|HOST)(?:_|$)/;
const INCOMPLETE = /\b(?:Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError)\b/;

/** Why a start failed: how the process ended, what it wrote of the reason, and what to do about it. */
export function startFault(
  settings: ServerSettings,
  error: unknown,
  exit: string | null,
  written: readonly string[],
): UpstreamFault {
  const telling = tellingLines(written);
  const lastWords = telling.length === 0 ? '' : `; it last wrote:\n${telling.join('\n')}`;
  if (error instanceof UpstreamFault) {
    const { failure } = error;
    return new UpstreamFault({ ...failure, message: `${failure.message}${lastWords}` }, error);
  }
  const { name } = settings;
  if ((error as NodeJS.ErrnoException).code === 'ENOENT' && settings.transport === 'stdio') {
    const hint = 'Check "command" and "cwd" of the server in the configuration.';
    return new UpstreamFault(unavailable(name, `"${settings.command}" cannot be started`, hint), error);
  }
  const reason = `${exit === null ? reasonOf(error) : `${exit} during startup`}${lastWords}`;
  return new UpstreamFault(toldFailure(name, reason, written), error);
}

function toldFailure(server: string, reason: string, written: readonly string[]): UpstreamFailure {
  const failure = unavailable(server, reason);
  const variables = lackingVariables(written);
  if (variables.length > 0) {
    const env = Object.fromEntries(variables.map((variable) => [variable, `\${${variable}}`]));
    return {
      ...failure,
      errorType: 'PERMISSION',
      message: `Server "${server}" lacks a key or a setting: ${reason}`,
      hint: `Set what it names, such as "env": ${JSON.stringify(env)} in its configuration${NEXT_CALL_TRIES}`,
    };
  }
  if (!INCOMPLETE.test(reason)) return failure;
  const hint = `Its program is incomplete: install it again. \`pml servers logs ${server}\` shows all it wrote.`;
  return { ...failure, errorType: 'UNKNOWN', hint };
}

/**
 * The lines of most use to a person: errors, each with the line after it, which often says what to do; otherwise
 * complaints; otherwise the last ones. Frames of stacks and usage texts come last in what servers write.
 */
function tellingLines(written: readonly string[]): readonly string[] {
  const lines = written.map(plain).filter((line) => !NOISE.test(line.trim()));
  const errors = lines.filter((line, at) => ERROR.test(line) || ERROR.test(lines[at - 1] ?? ''));
  const complaints = lines.filter((line) => COMPLAINT.test(line));
  const chosen = [errors, complaints, lines].find((some) => some.length > 0) ?? [];
  return [...new Set(chosen)].slice(-DEFAULTS.lines);
}

/** Environment variables that the server says it needs. */
function lackingVariables(written: readonly string[]): readonly string[] {
  const named = tellingLines(written)
    .filter((line) => LACK.test(line))
    .flatMap((line) => line.match(VARIABLE) ?? []);
  return [...new Set(named)].filter((name) => SECRET.test(name)).slice(0, DEFAULTS.variables);
}

/** Without colours, and bounded. */
function plain(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colours begin with one
  return line.slice(0, DEFAULTS.chars).replace(/\u001b\[[0-9;]{0,20}m/g, '');
}
