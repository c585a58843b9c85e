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
import type { ChildRegistry } from './child-registry.ts';
import { confined } from './confine.ts';
import { Connection, type ConnectionListener } from './connection.ts';
import { failureOf, UpstreamFault, unavailable } from './failure.ts';
import { WatchedHttpTransport } from './http-transport.ts';
import { startFault } from './start-fault.ts';
import { type RecentLines, StdioTransport } from './stdio-transport.ts';

const DEFAULTS = {
  /** `npx` may have to download the server first. */
  startMs: 60_000,
  /**
   * A server that does not answer the first request of the 2026-07-28 era within this time is treated as
   * legacy.
   */
  probeMs: 10_000,
  /** For a legacy event stream; a server that restarts is back within this time. */
  streamRetry: {
    initialReconnectionDelay: 500,
    maxReconnectionDelay: 10_000,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 5,
  },
  /** How long a server may take to ask for roots, and to use them, before it is called; most do not ask. */
  roots: { askMs: 500, useMs: 50 },
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
