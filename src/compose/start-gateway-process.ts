import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { GatewayTarget } from '../adapters/client/gateway-link.ts';
import { watchSettings } from '../adapters/config/watch-settings.ts';
import { type DataDirLock, dataFile, readToken } from '../adapters/store/data-dir-lock.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { createLogger } from '../adapters/telemetry/logger.ts';
import { createLoopWatch } from '../adapters/telemetry/loop-watch.ts';
import { createOtelExporter } from '../adapters/telemetry/otel-exporter.ts';
import { createMetrics } from '../adapters/telemetry/prometheus.ts';
import type { FoundSecrets } from '../core/tracing/found-secrets.ts';
import { createRedactor, type Redactor } from '../core/tracing/redact.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../engine/flow-ports.ts';
import type { Gateway } from '../engine/gateway.ts';
import { openingGateway } from '../engine/opening-gateway.ts';
import { createKeyRing } from '../engine/people/key-ring.ts';
import { asAgent } from '../engine/people/roles.ts';
import type { LoopWatch } from '../engine/ports/process.ts';
import type {
  ApiKey,
  Clock,
  GatewayEvent,
  Logger,
  LogLevel,
  Settings,
  TraceExporter,
} from '../engine/ports.ts';
import { createEventLog, type EventLog, watchRuns } from '../engine/traces/event-log.ts';
import { type AnswerCall, operationAnswers } from '../operations/bridged-operations.ts';
import { type DataHolder, operationContext } from '../operations/operation-context.ts';
import { OPERATIONS } from '../operations/table.ts';
import { pageFiles } from '../surfaces/dashboard/server/page-files.ts';
import { isPagePath } from '../surfaces/dashboard/shared/routes.ts';
import { createApi } from '../surfaces/http/api/create-api.ts';
import { type AppOptions, createApp, createTraffic } from '../surfaces/http/create-app.ts';
import { createAccess, hostsOf } from '../surfaces/http/guard.ts';
import { createReadiness, type Listener, listen } from '../surfaces/http/listen.ts';
import { createLogins } from '../surfaces/http/logins.ts';
import { createInboundOAuth } from '../surfaces/http/oauth/inbound-oauth.ts';
import { createMcpEndpoints, nativeLane } from '../surfaces/mcp/create-mcp-endpoints.ts';
import { createBackups } from './maintenance.ts';
import { returnMemory } from './return-memory.ts';

/** The same path from the sources and from the built package. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));
const DOCS = fileURLToPath(new URL('../../dist/docs.tar.gz', import.meta.url));

const DEFAULTS = {
  /** Milliseconds per shutdown step: one that hangs or fails must not block the others. */
  stepMs: 15_000,
  /** Milliseconds that open runs and requests have to finish. */
  patienceMs: 5_000,
  lookMs: 20,
  host: '127.0.0.1',
};

export const CLOCK: Clock = { now: () => new Date(), monotonic: () => performance.now() };

/** Keeps no process alive. */
export const sleep: FlowPorts['sleep'] = async (ms, signal) =>
  void (await setTimeout(ms, undefined, { ref: false, ...(signal && { signal }) }));

/** Facts about this process. */
export interface ProcessContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface GatewayProcessOptions {
  readonly context: ProcessContext;
  /** Without host and port it serves only other processes of this user. */
  readonly host?: string;
  readonly port?: number;
  /** Use any free port if the wanted one is in use. */
  readonly anyPort?: boolean;
  /** Start servers whose tools are not known yet. */
  readonly fillIn: boolean;
  /** Milliseconds to wait before the store is opened, which blocks this thread for a while. */
  readonly openAfterMs?: number;
  /** How to release the data folder when a `serve` wants it. */
  readonly handOver?: () => Promise<void>;
}

export interface GatewayProcess {
  readonly gateway: Gateway;
  /** Runs the operations that commands call. */
  readonly answerCall: AnswerCall;
  /** Resolves when the store is open, rejects when it cannot be opened. */
  readonly ready: Promise<void>;
  readonly listener: Listener;
  /** `/mcp` or `/mcp/all` for this process itself, without network and authentication. */
  readonly toMcp: (address: URL) => GatewayTarget;
  readonly createLink: () => string;
  close(): Promise<void>;
}

/** Opens store, servers and listener and publishes the port; undone in reverse order. */
export async function startGatewayProcess(
  dir: string,
  settings: Settings,
  lock: DataDirLock,
  options: GatewayProcessOptions,
): Promise<GatewayProcess> {
  const undo: (() => Promise<void>)[] = [lock.release];
  const close = async () => {
    const failed: unknown[] = [];
    for (const step of undo.splice(0).reverse())
      await within(DEFAULTS.stepMs, step).catch((error) => failed.push(error));
    if (failed.length > 0) throw failed[0];
  };
  try {
    const token = await readToken(dir);
    const redaction = createRedaction(token, settings);
    const logger = createLogger({ level: logLevel(options.context.env), redact: redaction.redact });
    const { version, env } = options.context;
    const { fillIn } = options;
    const events = createEventLog(CLOCK);
    events.follow(({ event }) => logEvent(logger, event));
    // A single command has nobody else waiting, and its output is read.
    const loop = createLoopWatch(CLOCK, fillIn ? logger : null);
    undo.push(async () => loop.close());
    const keepMemory = returnMemory();
    undo.push(async () => keepMemory());
    const exporter = await createOtelExporter({ env, version, logger });
    const { promise: store, resolve: onStore } = Promise.withResolvers<SqlStore>();
    const { redact, add: onSecrets } = redaction;
    const leaving = new AbortController();
    const seen = { clock: CLOCK, sleep, loop, events, logger, redact, version, exporter };
    const parts = { ...seen, fillIn, onStore, onSecrets, signal: leaving.signal };
    const opening = setTimeout(options.openAfterMs ?? 0)
      .then(() => import('./open-gateway.ts'))
      .then(({ openGateway }) => openGateway(dir, settings, parts));
    const inventory = await rememberInventory(dir, events);
    const gateway = openingGateway({ settings, events, inventory, opening });
    undo.push(() => gateway.close().catch(() => {}));
    undo.push(async () => leaving.abort());

    const context = operationContext(gateway, randomUUID().slice(0, 8));
    const mcp = createMcpEndpoints(gateway, { version, logger, context });
    undo.push(mcp.close);

    const owner = userInfo().username;
    const ring = createKeyRing(gateway.store, CLOCK);
    undo.push(async () => stopFollowing());
    const stopFollowing = events.follow(({ event }) => event.type === 'key_changed' && ring.forget());
    const logins = createLogins(dataFile(dir, 'browser-logins.json'));
    const access = createAccess(token, { keys: ring, owner, logins });
    let listener: Listener | undefined;
    const createLink = (key?: ApiKey) => `${listener?.url}/login#code=${access.createLoginCode(key)}`;
    const holder: DataHolder = {
      createLoginLink: async (name) => createLink(await knownKey(gateway, name)),
      ...createBackups(store, CLOCK),
      // Replies first: the reply uses the connection that is about to close.
      handOver: () => void setImmediate(() => options.handOver?.()),
    };
    const answerCall = operationAnswers(OPERATIONS, { ...context, logins, holder });
    const operations = createOperations({ gateway, events, exporter, opening, version, clock: CLOCK, loop });
    undo.push(async () => operations.close());
    const app = createApp({
      ...operations.routes,
      access,
      oauth: createInboundOAuth({ gateway, access, keys: ring, logger }),
      logger,
      now: CLOCK.monotonic,
      allowedHosts: () => [
        ...hostsOf(options.host ?? DEFAULTS.host, listener?.port ?? options.port ?? 0),
        ...gateway.settings().http.hosts.map((host) => host.toLowerCase()),
      ],
      answerCall,
      mcp,
      api: createApi(gateway, logger, { version, context: { ...context, holder } }),
      page: { isPage: isPagePath, ...pageFiles(PAGE_FOLDER, DOCS) },
      about: () => ({ version, pid: process.pid, role: lock.holder.role }),
    });
    listener = await listenOn(app, options);
    undo.push(listener.close);
    undo.push(operations.quiet);
    await lock.announce(listener.port);
    undo.push(() => lock.announce(null));
    undo.push(await followSettings(dir, gateway, redaction, logger, settings, options.context));
    const stdioClient = asAgent({ name: owner, user: owner, role: 'owner', keyId: null });
    const toMcp = (url: URL): GatewayTarget => {
      const isNative = url.pathname === '/mcp/all';
      const serve = isNative ? mcp.native : mcp.gateway;
      const lane = isNative ? nativeLane(url) : 'search';
      return {
        url,
        fetch: (input, init) => serve(new Request(input, init), stdioClient),
        call: (message, from) => mcp.call(message, { ...from, who: stdioClient }, lane),
      };
    };
    const ready = opening.then(() => {});
    return { gateway, answerCall, ready, listener, toMcp, createLink, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Resolves when the work ends, or after `ms`. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  const patience = new AbortController();
  const late = setTimeout(ms, undefined, { signal: patience.signal, ref: false }).catch(() => {});
  await Promise.race([work(), late]).finally(() => patience.abort());
}

/** Follows the settings: a reload may add secrets. */
function createRedaction(token: string, settings: Settings) {
  let { secrets } = settings;
  const own = new Set([token]);
  const made = () => createRedactor([...secrets, ...own]);
  let current = made();
  const redact = ((value: unknown, found?: FoundSecrets) => current(value, found)) as Redactor;
  return {
    redact,
    use(next: Settings) {
      secrets = next.secrets;
      current = made();
    },
    /** Secrets from outside the configuration. */
    add(values: readonly string[]) {
      if (values.every((value) => own.has(value))) return;
      for (const value of values) own.add(value);
      current = made();
    },
  };
}

/** Undefined for the owner's own link. */
async function knownKey(gateway: Gateway, name: string | undefined): Promise<ApiKey | undefined> {
  if (name === undefined) return undefined;
  const keys = await gateway.people.keys();
  const key = keys.find(
    ({ id, name: own, revokedAt }) => revokedAt === null && (id === name || own === name),
  );
  if (key) return key;
  throw new PmlError('not_found', `No active key "${name}"`, { hint: 'See "pml keys ls".' });
}

async function listenOn(
  app: ReturnType<typeof createApp>,
  { host = DEFAULTS.host, port = 0, anyPort }: GatewayProcessOptions,
): Promise<Listener> {
  try {
    return await listen(app, host, port);
  } catch (error) {
    if (!anyPort || !(error instanceof PmlError) || error.code !== 'port_in_use') throw error;
    return await listen(app, host, 0);
  }
}

/** An invalid file changes nothing: the error is shown and the old settings stay. */
async function followSettings(
  dir: string,
  gateway: Gateway,
  redaction: ReturnType<typeof createRedaction>,
  logger: Logger,
  settings: Settings,
  { env, cwd }: ProcessContext,
): Promise<() => Promise<void>> {
  // Without a file, watches for the one that "pml init" would write.
  const file = settings.file ?? join(dir, 'pml.json');
  const isAwaited = (error: PmlError) => settings.file === null && error.code === 'config_not_found';
  const reload = async (next: Settings) => {
    redaction.use(next);
    await gateway.reload(next);
  };
  const watcher = await watchSettings(
    { env, cwd, file, data: dir, isFound: settings.isFound ?? false },
    settings,
    (next) =>
      void reload(next).catch((error) =>
        logger.log('error', 'The new settings could not be applied', { error: String(error) }),
      ),
    (error) => {
      if (isAwaited(error)) return;
      logger.log('error', error.message, { hint: error.hint });
      gateway.events.emit({ type: 'config_error', error: error.toShape() });
    },
  );
  return async () => watcher.close();
}

/** What happens, for those who want to watch. */
function logEvent(logger: Logger, event: GatewayEvent): void {
  const { type } = event;
  if (type === 'server_state') logger.log('info', `Server ${event.server} is ${event.state}`);
  else if (type === 'run_started') {
    // Without its intent: only the run's own calls show what in it is secret.
    const { run_id, owner } = event;
    logger.log('info', 'A run started', { run_id, ...(owner !== null && { owner }) });
  } else if (type === 'trace_event' && event.event.type === 'tool_end') {
    const { node, success, duration_ms, error } = event.event;
    logger.log('info', `Called ${node}`, {
      success,
      ms: Math.round(duration_ms ?? 0),
      ...(error !== undefined && { error }),
    });
  } else if (type === 'run_finished') {
    const { run_id, status, duration_ms } = event;
    logger.log('info', 'A run ended', { run_id, status, ms: Math.round(duration_ms) });
  } else if (type === 'config_reloaded')
    logger.log('info', 'The configuration was read again', { file: event.file });
}

function logLevel(env: ProcessContext['env']): LogLevel {
  const wanted = env.PML_LOG;
  return wanted === 'debug' || wanted === 'info' || wanted === 'error' ? wanted : 'warn';
}

/** Stores the inventory line in a file, so that the next start has it before the store is open. */
async function rememberInventory(dir: string, events: EventLog): Promise<string> {
  const file = join(dir, 'inventory.txt');
  events.follow(({ event }) => {
    if (event.type !== 'inventory_changed') return;
    // Only a convenience for the next start: without it the line is available a moment later.
    writeFile(file, event.inventory).catch(() => {});
  });
  return await readFile(file, 'utf8').catch(() => 'The list of tools is still loading.');
}

interface OperationsParts {
  readonly gateway: Gateway;
  readonly events: EventLog;
  readonly exporter: TraceExporter | null;
  readonly opening: Promise<unknown>;
  readonly version: string;
  readonly clock: Clock;
  readonly loop: LoopWatch;
}

/** Health, metrics and status for operators, and an orderly shutdown. */
export function createOperations(parts: OperationsParts) {
  const { gateway, events, exporter, opening, version, clock, loop } = parts;
  const metrics = createMetrics({
    version,
    now: clock.monotonic,
    figures: () => figuresOf(gateway),
    loop: loop.figures,
  });
  const unfollow = events.follow(metrics.hear);
  const runs = watchRuns(events);
  const traffic = createTraffic(
    exporter
      ? (answered) => {
          metrics.answered(answered);
          exporter.exportRequest(answered);
        }
      : metrics.answered,
  );
  const ready = createReadiness({
    opened: opening,
    isStopping: traffic.isStopping,
    ping: () => gateway.store.audit.list({ limit: 1 }),
    now: clock.monotonic,
  });
  const routes: Pick<AppOptions, 'traffic' | 'ready' | 'metrics'> = { traffic, ready, metrics: metrics.read };
  return {
    routes,
    /** Refuses new work, and waits a limited time for open work. */
    async quiet() {
      traffic.stop();
      const until = clock.monotonic() + DEFAULTS.patienceMs;
      while (runs.count() + traffic.waiting() > 0 && clock.monotonic() < until)
        await setTimeout(DEFAULTS.lookMs);
    },
    close() {
      unfollow();
      runs.close();
    },
  };
}

async function figuresOf(gateway: Gateway) {
  const [stats, reports] = await Promise.all([gateway.stats(), gateway.servers()]);
  const { tools, capabilities, traces, pendingApprovals } = stats;
  const servers: Record<string, number> = {};
  for (const { state } of reports) servers[state] = (servers[state] ?? 0) + 1;
  return { tools, capabilities, traces, pendingApprovals, servers };
}
