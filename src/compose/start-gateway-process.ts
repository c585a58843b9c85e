import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { watchSettings } from '../adapters/config/watch-settings.ts';
import { dataFile, readToken } from '../adapters/store/data-dir.ts';
import type { DataDirLock } from '../adapters/store/data-dir-lock.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { createLogger } from '../adapters/telemetry/logger.ts';
import { createLoopWatch } from '../adapters/telemetry/loop-watch.ts';
import { createOtelExporter } from '../adapters/telemetry/otel-exporter.ts';
import type { FoundSecrets } from '../core/tracing/found-secrets.ts';
import { createRedactor, type Redactor } from '../core/tracing/redact.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Gateway } from '../engine/gateway.ts';
import { gatewayProcedures } from '../engine/gateway-procedures.ts';
import { openingGateway } from '../engine/opening-gateway.ts';
import { createKeyRing } from '../engine/people/people-service.ts';
import { asAgent } from '../engine/people/roles.ts';
import type { ApiKey, Clock, Logger, LogLevel, RemoteProcedures, Settings } from '../engine/ports.ts';
import { storeProcedures } from '../engine/remote-procedures.ts';
import { createEventLog, type EventLog } from '../engine/traces/event-log.ts';
import { operationProcedures } from '../operations/bridged-operations.ts';
import { loginToWire } from '../operations/list-logins.ts';
import { operationContext } from '../operations/operation-context.ts';
import { OPERATIONS } from '../operations/table.ts';
import { pageFiles } from '../surfaces/dashboard/server/page-files.ts';
import { isPagePath } from '../surfaces/dashboard/shared/routes.ts';
import { createAccess, createLogins } from '../surfaces/http/access.ts';
import { createApi } from '../surfaces/http/api/create-api.ts';
import { createApp } from '../surfaces/http/create-app.ts';
import { hostsOf } from '../surfaces/http/guard.ts';
import { type Listener, listen } from '../surfaces/http/listen.ts';
import { createMcpEndpoints } from '../surfaces/mcp/create-mcp-endpoints.ts';
import { backupProcedures } from './maintenance.ts';
import { createOperations } from './operations.ts';
import type { ProcessContext } from './process-context.ts';

/** The same from the sources and from the built package. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dist/dashboard', import.meta.url));

const DEFAULTS = {
  /** Each step of ending gets so long, in milliseconds: what hangs must not keep the rest from ending. */
  stepMs: 15_000,
};

const CLOCK: Clock = { now: () => new Date(), monotonic: () => performance.now() };

export interface GatewayProcessOptions {
  readonly context: ProcessContext;
  readonly host: string;
  readonly port: number;
  /** Take any free port when the wanted one is taken. */
  readonly anyPort?: boolean;
  /** Start servers to learn the tools of those that are not known yet. */
  readonly fillIn: boolean;
  /** Milliseconds to wait before the store is opened, which keeps this thread from answering for a while. */
  readonly openAfterMs?: number;
  /** How to let go of the data dir when a `serve` wants it. */
  readonly handOver?: () => Promise<void>;
}

export interface GatewayProcess {
  readonly gateway: Gateway;
  readonly procedures: RemoteProcedures;
  /** Resolves when the store is open, rejects when it cannot be. */
  readonly ready: Promise<void>;
  readonly listener: Listener;
  /** `/mcp` for this very process, without the network and its checks between. */
  readonly toMcp: typeof fetch;
  readonly createLink: () => string;
  close(): Promise<void>;
}

/** Opens store, servers and listener and tells others where it is; undone in reverse. */
export async function startGatewayProcess(
  dir: string,
  settings: Settings,
  lock: DataDirLock,
  options: GatewayProcessOptions,
): Promise<GatewayProcess> {
  const undo: (() => Promise<void>)[] = [lock.release];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await within(DEFAULTS.stepMs, step());
  };
  try {
    const token = await readToken(dir);
    const redaction = createRedaction(token, settings);
    const logger = createLogger({ level: logLevel(options.context.env), redact: redaction.redact });
    const { version, env } = options.context;
    const { fillIn } = options;
    const events = createEventLog(CLOCK);
    // A single command keeps nobody else waiting, and what it prints is read.
    const loop = createLoopWatch(CLOCK, fillIn ? logger : null);
    undo.push(async () => loop.close());
    const exporter = await createOtelExporter({ env, version, logger });
    const { promise: store, resolve: onStore } = Promise.withResolvers<SqlStore>();
    const { redact, add: onSecrets } = redaction;
    const leaving = new AbortController();
    const seen = { clock: CLOCK, loop, events, logger, redact, version, exporter };
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
    const ring = createKeyRing(gateway.store.keys, CLOCK.monotonic);
    undo.push(async () => stopFollowing());
    const stopFollowing = events.follow(({ event }) => event.type === 'key_changed' && ring.forget());
    const logins = createLogins(dataFile(dir, 'browser-logins.json'));
    const access = createAccess(token, { keys: ring, owner, logins });
    let listener: Listener | undefined;
    const createLink = (key?: ApiKey) => `${listener?.url}/login#code=${access.createLoginCode(key)}`;
    const procedures = {
      ...storeProcedures(gateway.store),
      ...gatewayProcedures(gateway),
      ...operationProcedures(OPERATIONS, { ...context, logins }),
      login: {
        createLink: async (name?: string) => createLink(await knownKey(gateway, name)),
        list: async () => (await logins.list()).map(loginToWire),
        revoke: logins.revoke,
      },
      backup: backupProcedures(store, CLOCK),
      // Answered before it is done: the answer goes through what is about to close.
      holder: { handOver: async () => void setImmediate(() => options.handOver?.()) },
    };
    const operations = createOperations({ gateway, events, exporter, opening, version, clock: CLOCK, loop });
    undo.push(async () => operations.close());
    const app = createApp({
      ...operations.routes,
      access,
      logger,
      now: CLOCK.monotonic,
      allowedHosts: () => [
        ...hostsOf(options.host, listener?.port ?? options.port),
        ...gateway.settings().http.hosts.map((host) => host.toLowerCase()),
      ],
      procedures,
      mcp,
      api: createApi(gateway, logger, { version, context }),
      page: { isPage: isPagePath, ...pageFiles(PAGE_FOLDER) },
      about: () => ({ version, pid: process.pid, role: lock.holder.role }),
    });
    listener = await listenOn(app, options);
    undo.push(listener.close);
    undo.push(operations.quiet);
    await lock.announce(listener.port);
    undo.push(() => lock.announce(null));
    undo.push(await followSettings(dir, gateway, redaction, logger, settings, options.context));
    const stdioClient = asAgent({ name: owner, user: owner, role: 'owner', keyId: null });
    const toMcp: typeof fetch = async (input, init) =>
      await mcp.gateway(new Request(input, init), stdioClient);
    const ready = opening.then(() => {});
    return { gateway, procedures, ready, listener, toMcp, createLink, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Resolves when the work does, or does not in time. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const late = setTimeout(ms, undefined, { signal: patience.signal, ref: false }).catch(() => {});
  await Promise.race([work, late]).finally(() => patience.abort());
}

/** Follows the settings: what was no secret before may be one after a reload. */
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
    /** Secrets that stand in no configuration. */
    add(values: readonly string[]) {
      if (values.every((value) => own.has(value))) return;
      for (const value of values) own.add(value);
      current = made();
    },
  };
}

/** None for the owner's own link. */
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
  options: GatewayProcessOptions,
): Promise<Listener> {
  try {
    return await listen(app, options.host, options.port);
  } catch (error) {
    if (!options.anyPort || !(error instanceof PmlError) || error.code !== 'port_in_use') throw error;
    return await listen(app, options.host, 0);
  }
}

/** A file that cannot be used changes nothing: the error is shown, the old settings stay. */
async function followSettings(
  dir: string,
  gateway: Gateway,
  redaction: ReturnType<typeof createRedaction>,
  logger: Logger,
  settings: Settings,
  { env, cwd }: ProcessContext,
): Promise<() => Promise<void>> {
  // Without a file, the one that "pml init" would write is waited for.
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

function logLevel(env: ProcessContext['env']): LogLevel {
  const wanted = env.PML_LOG;
  return wanted === 'debug' || wanted === 'info' || wanted === 'error' ? wanted : 'warn';
}

/** Keeps the inventory line beside the store, so that the next start can tell it before the store is open. */
async function rememberInventory(dir: string, events: EventLog): Promise<string> {
  const file = join(dir, 'inventory.txt');
  events.follow(({ event }) => {
    if (event.type !== 'inventory_changed') return;
    // Only a convenience for the next start: without it the line comes a moment later.
    writeFile(file, event.inventory).catch(() => {});
  });
  return await readFile(file, 'utf8').catch(() => 'The list of tools is still loading.');
}
