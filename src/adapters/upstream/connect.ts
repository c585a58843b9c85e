import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ServerSettings, TokenStore, UpstreamFailure } from '../../engine/ports.ts';
import { authorization } from './authorization.ts';
import type { ChildRegistry } from './child-registry.ts';
import { Connection, type ConnectionListener } from './connection.ts';
import { failureOf, reasonOf, UpstreamFault, unavailable } from './failure.ts';
import type { RecentLines } from './recent-lines.ts';
import { StdioTransport } from './stdio-transport.ts';
import { WatchedHttpTransport } from './watched-http-transport.ts';

const DEFAULTS = {
  /** `npx` may have to fetch the server first. */
  startMs: 60_000,
  /** A server that does not answer what the 2026-07-28 era begins with belongs to the era before. */
  probeMs: 10_000,
  /** Of a legacy event stream; a server being restarted is back within that. */
  streamRetry: {
    initialReconnectionDelay: 500,
    maxReconnectionDelay: 10_000,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 5,
  },
  stderrLines: 5,
};
/** In the 2025-11-25 era a connection declares once what its clients can do; each question is checked anew. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

export interface ConnectOptions {
  readonly settings: ServerSettings;
  readonly listener: ConnectionListener;
  /** Aborting ends what was started so far. */
  readonly signal: AbortSignal;
  readonly info: { readonly name: string; readonly version: string };
  readonly registry: ChildRegistry;
  readonly tokens: TokenStore;
  readonly stderr: RecentLines;
  onGarbage(line: string): void;
  /** The server was seen to belong to the era before 2026-07-28. */
  readonly knownLegacy: boolean;
  readonly startMs?: number;
  readonly probeMs?: number;
  readonly graceMs?: number;
}

export interface Connected {
  readonly connection: Connection;
  readonly pid: number | null;
  /** How the server's process ended; null while it lives or where there is none. */
  readonly exit: () => string | null;
}

/** Starts or reaches the server and agrees on a protocol era with it. Rejects with an UpstreamFault. */
export function connect(options: ConnectOptions): Promise<Connected> {
  return options.settings.transport === 'stdio' ? connectStdio(options) : connectHttp(options);
}

async function connectStdio(options: ConnectOptions): Promise<Connected> {
  const first = stdioTransport(options);
  try {
    return await open(first, options, options.knownLegacy);
  } catch (error) {
    // Some SDKs of the older era end the process when anything comes before their handshake.
    const endedByProbe = !options.knownLegacy && first.exit !== null && isNegotiationError(error);
    if (!endedByProbe) throw startFault(options, error, first.exit);
  }
  const second = stdioTransport(options);
  try {
    return await open(second, options, true);
  } catch (error) {
    throw startFault(options, error, second.exit);
  }
}

async function connectHttp(options: ConnectOptions): Promise<Connected> {
  const { settings } = options;
  if (settings.transport === 'stdio') throw new TypeError('not reached over HTTP');
  const url = new URL(settings.url);
  const access = await authorization(settings, options.tokens);
  const sse = () => open(new SSEClientTransport(url, access), options, true);
  try {
    if (settings.transport === 'sse') return await sse();
    const streamRetry = { reconnectionOptions: DEFAULTS.streamRetry };
    return await open(new WatchedHttpTransport(url, { ...access, ...streamRetry }), options, false);
  } catch (error) {
    // How the specification tells clients to find out that a server knows only the older transport.
    const olderTransport = settings.transport === 'http' && isClientError(error);
    const sseError = olderTransport ? await sse().catch(() => null) : null;
    if (sseError) return sseError;
    throw startFault(options, error, null);
  }
}

async function open(transport: Transport, options: ConnectOptions, legacy: boolean): Promise<Connected> {
  const { startMs = DEFAULTS.startMs, probeMs = DEFAULTS.probeMs } = options;
  const client = new Client(options.info, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMs, startMs) } },
  });
  const connection = new Connection(options.settings.name, client, options.listener);
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
    throw late.aborted ? new UpstreamFault(silent(options, startMs), error) : error;
  } finally {
    giveUp.removeEventListener('abort', end);
  }
  connection.established();
  const process = transport instanceof StdioTransport ? transport : null;
  return { connection, pid: process?.pid ?? null, exit: () => process?.exit ?? null };
}

function stdioTransport(options: ConnectOptions): StdioTransport {
  const { settings, registry, stderr, onGarbage, graceMs } = options;
  if (settings.transport !== 'stdio') throw new TypeError('not a process');
  const { name: server, command, args, env, cwd } = settings;
  const limits = graceMs === undefined ? {} : { graceMs };
  return new StdioTransport({ server, command, args, env, cwd, registry, stderr, onGarbage, ...limits });
}

/** Says why the start failed, with what the server last wrote: that is usually where the reason stands. */
function startFault(options: ConnectOptions, error: unknown, exit: string | null): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { settings } = options;
  const failure = failureOf(settings.name, error);
  if (settings.transport !== 'stdio') return new UpstreamFault(failure, error);
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    const hint = 'Check "command" and "cwd" of the server in the configuration.';
    const reason = `"${settings.command}" cannot be started`;
    return new UpstreamFault(unavailable(settings.name, reason, hint), error);
  }
  const reason = exit === null ? reasonOf(error) : `it ended with ${exit} at its start`;
  return new UpstreamFault(unavailable(settings.name, `${reason}${lastWords(options)}`), error);
}

function silent(options: ConnectOptions, ms: number): UpstreamFailure {
  const { name } = options.settings;
  return {
    ...unavailable(name, `it did not answer within ${ms} ms of its start${lastWords(options)}`),
    code: 'upstream_timeout',
    errorType: 'TIMEOUT',
  };
}

function lastWords({ stderr }: ConnectOptions): string {
  const lines = stderr.list().slice(-DEFAULTS.stderrLines);
  return lines.length === 0 ? '' : `; it last wrote:\n${lines.join('\n')}`;
}

function isNegotiationError(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

function isClientError(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 403;
}
