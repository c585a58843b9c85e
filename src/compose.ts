import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createFailoverBridge } from './adapters/client/failover-bridge.ts';
import { createHttpBridge } from './adapters/client/http-bridge.ts';
import { createRemoteStore } from './adapters/client/remote-store.ts';
import { runStdioPump } from './adapters/client/stdio-pump.ts';
import { prepareDemo } from './adapters/config/demo-settings.ts';
import { dataDir as dataDirOf } from './adapters/config/find-config.ts';
import { loadSettings } from './adapters/config/load-settings.ts';
import { watchSettings } from './adapters/config/watch-settings.ts';
import { createEmbedder } from './adapters/embedding/create-embedder.ts';
import { WasmVectorIndex } from './adapters/embedding/wasm-vector-index.ts';
import { claim, claimOrReach } from './adapters/store/claim-data-dir.ts';
import { ensureDataDir, readToken } from './adapters/store/data-dir.ts';
import { type DataDirLock, type Holder, isAlive, readHolder } from './adapters/store/data-dir-lock.ts';
import { openPgliteStore } from './adapters/store/open-pglite-store.ts';
import { openPostgresStore } from './adapters/store/open-postgres-store.ts';
import { createLogger } from './adapters/telemetry/logger.ts';
import { reapOrphans } from './adapters/upstream/child-registry.ts';
import { fileTokenStore } from './adapters/upstream/file-token-store.ts';
import { McpUpstream } from './adapters/upstream/mcp-upstream.ts';
import { createRedactor, type Redactor } from './core/tracing/redact.ts';
import { PmlError } from './core/vocabulary/pml-error.ts';
import { createGateway } from './engine/create-gateway.ts';
import { createEventLog } from './engine/event-log.ts';
import type { FlowPorts } from './engine/flow-ports.ts';
import type { Gateway } from './engine/gateway.ts';
import type { Clock, Crypto, Logger, LogLevel, RemoteProcedures, Settings, Store } from './engine/ports.ts';
import { localBridge, storeProcedures } from './engine/remote-procedures.ts';
import type {
  GlobalOptions,
  OpenedStore,
  RunningGateway,
  ServeOptions,
  StdioGateway,
  System,
} from './surfaces/cli/system.ts';
import { createAccess } from './surfaces/http/access.ts';
import { createApp } from './surfaces/http/create-app.ts';
import { hostsOf } from './surfaces/http/guard.ts';
import { type Listener, listen } from './surfaces/http/listen.ts';
import { createMcpEndpoints } from './surfaces/mcp/create-mcp-endpoints.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface Process {
  readonly version: string;
  readonly env: Env;
}

const CLOCK: Clock = { now: () => new Date(), monotonic: () => performance.now() };

const LOOPBACK = { host: '127.0.0.1', port: 0 };

const CRYPTO: Crypto = {
  randomUuid: randomUUID,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};

/** Where everything is put together; the only file that knows all the others. */
export function compose(env: Env, cwd: string): System {
  const process = { version: readVersion(), env };
  const source = ({ config, data }: GlobalOptions) => ({
    env,
    cwd,
    ...(config !== undefined && { file: config }),
    ...(data !== undefined && { data }),
  });
  const dataDir = (options: GlobalOptions) => dataDirOf(source(options));
  const settingsOf = (options: GlobalOptions) => loadSettings(source(options));

  return {
    version: process.version,
    dataDir,
    loadSettings: settingsOf,
    createEmbedder: (settings) => createEmbedder(settings.embedding),

    async holder(options) {
      const holder = await readHolder(dataDir(options));
      return holder && isAlive(holder) ? holder : null;
    },

    async openStore(options, role) {
      const dir = dataDir(options);
      const settings = await settingsOf(options);
      await ensureDataDir(dir);
      return openStore(dir, settings, role, process);
    },

    async serve(options) {
      const isDemo = await wantsDemo(options, settingsOf);
      const dir = isDemo ? join(dataDir(options), 'demo') : dataDir(options);
      await ensureDataDir(dir);
      const settings = isDemo ? await prepareDemo(dir) : await settingsOf(options);
      const lock = await claimForServe(dir);
      return await serveFrom(dir, settings, lock, { ...process, options, isDemo, cwd });
    },

    stdio(options) {
      const dir = dataDir(options);
      return serveStdio(dir, () => settingsOf(options), process);
    },

    async loginLink(options) {
      const dir = dataDir(options);
      for (const candidate of [dir, join(dir, 'demo')]) {
        const holder = await readHolder(candidate);
        if (holder?.role !== 'serve' || holder.port === null || !isAlive(holder)) continue;
        const bridge = createHttpBridge(holder.port, await readToken(candidate));
        return (await bridge.call('login', 'createLink', [])) as string;
      }
      throw new PmlError('not_found', `No gateway serves from ${dir}`, {
        hint: 'Start one with "pml serve".',
      });
    },
  };
}

/** Also a short-lived command listens: another one started beside it bridges instead of failing. */
function openStore(dir: string, settings: Settings, role: string, process: Process): OpenedStore {
  let through: Holder | null = null;
  const bridge = createFailoverBridge(async () => {
    const claimed = await claimOrReach(dir, role);
    if ('holder' in claimed) {
      through = claimed.holder;
      return createHttpBridge(claimed.holder.port, await readToken(dir));
    }
    through = null;
    const held = await hold(dir, settings, claimed.lock, { ...process, ...LOOPBACK, fillIn: false });
    return localBridge(held.procedures, held.close);
  });
  return { store: createRemoteStore(bridge), through: () => through, close: bridge.close };
}

/** A `pml stdio` that holds the data dir hands it over: of all holders only another `serve` stays. */
async function claimForServe(dir: string): Promise<DataDirLock> {
  const holder = await readHolder(dir);
  if (holder?.role === 'stdio' && holder.port !== null && isAlive(holder)) {
    const bridge = createHttpBridge(holder.port, await readToken(dir));
    await bridge.call('holder', 'handOver', []).catch(() => {});
    await bridge.close();
  }
  return await claim(dir, 'serve', { patience: (heldBy) => heldBy.role !== 'serve' });
}

/** Each `pml stdio` carries its client's messages to the holder, which may be itself. */
function serveStdio(dir: string, settingsOf: () => Promise<Settings>, own: Process): StdioGateway {
  let held: Held | null = null;
  const letGo = async () => {
    const holding = held;
    held = null;
    await holding?.close();
  };
  const reach = async () => {
    await ensureDataDir(dir);
    const headers = { authorization: `Bearer ${await readToken(dir)}` };
    const claimed = await claimOrReach(dir, 'stdio');
    if ('holder' in claimed) return { url: mcpUrl(claimed.holder.port), headers, fetch };
    const settings = await settingsOf();
    held = await hold(dir, settings, claimed.lock, { ...own, ...LOOPBACK, fillIn: true, handOver: letGo });
    return { url: mcpUrl(held.listener.port), headers, fetch: held.fetch };
  };
  const onError = (error: Error) => void process.stderr.write(`pml: ${error.message}\n`);
  const ended = runStdioPump({ stdin: process.stdin, stdout: process.stdout, reach, onError });
  return { ended, close: letGo };
}

function mcpUrl(port: number): URL {
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

interface HoldOptions extends Process {
  readonly host: string;
  readonly port: number;
  /** Take any free port when the wanted one is taken. */
  readonly anyPort?: boolean;
  /** Start servers to learn the tools of those that are not known yet. */
  readonly fillIn: boolean;
  /** How to let go of the data dir when a `serve` wants it. */
  readonly handOver?: () => Promise<void>;
}

interface Held {
  readonly gateway: Gateway;
  readonly procedures: RemoteProcedures;
  readonly logger: Logger;
  readonly listener: Listener;
  /** The HTTP surface without the network between. */
  readonly fetch: typeof fetch;
  readonly createLink: () => string;
  reload(settings: Settings): Promise<void>;
  close(): Promise<void>;
}

/** Opens store, servers and listener and tells others where it is; undone in reverse. */
async function hold(dir: string, settings: Settings, lock: DataDirLock, options: HoldOptions): Promise<Held> {
  const undo: (() => Promise<void>)[] = [lock.release];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const token = await readToken(dir);
    const redaction = createRedaction(token, settings);
    const logger = createLogger({ level: logLevel(options.env), redact: redaction.redact });
    await reapOrphans(dir);
    const store = await (settings.store.url ? openPostgresStore(settings.store.url) : openPgliteStore(dir));
    undo.push(store.close);
    const gateway = await openGateway(dir, settings, { store, logger, redact: redaction.redact, ...options });
    undo.push(gateway.close);

    const mcp = createMcpEndpoints(gateway, { version: options.version, logger });
    undo.push(mcp.close);

    const access = createAccess(token);
    let listener: Listener | undefined;
    const createLink = () => `${listener?.url}/login?code=${access.createLoginCode()}`;
    const procedures = {
      ...storeProcedures(store),
      login: { createLink: async () => createLink() },
      // Answered before it is done: the answer goes through what is about to close.
      holder: { handOver: async () => void setImmediate(() => options.handOver?.()) },
    };
    const app = createApp({
      access,
      logger,
      now: CLOCK.monotonic,
      allowedHosts: () => hostsOf(options.host, listener?.port ?? options.port),
      procedures,
      mcp,
      about: () => ({ version: options.version, pid: process.pid, role: lock.holder.role }),
    });
    listener = await listenOn(app, options);
    undo.push(listener.close);
    await lock.announce(listener.port);
    undo.push(() => lock.announce(null));
    const reload = async (next: Settings) => {
      redaction.use(next);
      await gateway.reload(next);
    };
    const { port } = listener;
    const fetchHere: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      request.headers.set('host', `127.0.0.1:${port}`);
      return await app.fetch(request);
    };
    return { gateway, procedures, logger, listener, fetch: fetchHere, createLink, reload, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface GatewayParts extends Process {
  readonly store: Store;
  readonly logger: Logger;
  readonly redact: (value: unknown) => unknown;
  readonly fillIn: boolean;
}

async function openGateway(dir: string, settings: Settings, parts: GatewayParts): Promise<Gateway> {
  const { store, logger, redact, fillIn, version } = parts;
  const embedder = createEmbedder(settings.embedding);
  const upstream = new McpUpstream({
    servers: settings.servers,
    dataDir: dir,
    tokens: fileTokenStore(dir),
    clock: CLOCK,
    random: Math.random,
    logger,
    info: { name: 'pml', version },
  });
  const ports: FlowPorts = {
    store,
    upstream,
    embedder,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
    clock: CLOCK,
    crypto: CRYPTO,
    logger,
    events: createEventLog(CLOCK),
    redact,
    sleep: async (ms, signal) =>
      void (await setTimeout(ms, undefined, { ref: false, ...(signal && { signal }) })),
  };
  return await createGateway(ports, settings, { fillIn });
}

/** Follows the settings: what was no secret before may be one after a reload. */
function createRedaction(token: string, settings: Settings) {
  const from = ({ secrets }: Settings) => createRedactor([...secrets, token]);
  let current = from(settings);
  const redact = ((value: unknown) => current(value)) as Redactor;
  return {
    redact,
    use(next: Settings) {
      current = from(next);
    },
  };
}

async function listenOn(app: ReturnType<typeof createApp>, options: HoldOptions): Promise<Listener> {
  try {
    return await listen(app, options.host, options.port);
  } catch (error) {
    if (!options.anyPort || !(error instanceof PmlError) || error.code !== 'port_in_use') throw error;
    return await listen(app, options.host, 0);
  }
}

interface ServeContext extends Process {
  readonly options: ServeOptions;
  readonly isDemo: boolean;
  readonly cwd: string;
}

async function serveFrom(
  dir: string,
  settings: Settings,
  lock: DataDirLock,
  { version, env, options, isDemo, cwd }: ServeContext,
): Promise<RunningGateway> {
  const host = options.host ?? settings.http.host;
  const port = options.port ?? settings.http.port;
  const anyPort = isDemo && options.port === undefined;
  const held = await hold(dir, settings, lock, { version, env, host, port, anyPort, fillIn: true });
  const watcher = await followSettings(held, settings, { env, cwd });
  const takenPort = port !== 0 && held.listener.port !== port ? port : null;
  return {
    url: held.listener.url,
    loginUrl: held.createLink(),
    dataDir: dir,
    settings,
    notes: notesFor(settings, isDemo, takenPort),
    async close() {
      watcher?.close();
      await held.close();
    },
  };
}

/** A file that cannot be used changes nothing: the error is shown, the old settings stay. */
async function followSettings(held: Held, settings: Settings, source: { env: Env; cwd: string }) {
  if (settings.file === null) return null;
  return await watchSettings(
    { ...source, file: settings.file },
    settings,
    (next) => void held.reload(next),
    (error) => {
      held.logger.log('error', error.message, { hint: error.hint });
      held.gateway.events.emit({ type: 'config_error', error: error.toShape() });
    },
  );
}

function notesFor(settings: Settings, isDemo: boolean, takenPort: number | null): string[] {
  const notes: string[] = [];
  if (takenPort !== null) notes.push(`Port ${takenPort} is taken, so another one was chosen.`);
  if (isDemo) notes.push('This is the demo, on a scratch folder of its own.');
  else if (settings.servers.length === 0) {
    notes.push('No servers are attached yet: write them into a pml.json as "mcpServers", or try --demo.');
  }
  return notes;
}

async function wantsDemo(
  options: ServeOptions,
  settingsOf: (options: GlobalOptions) => Promise<Settings>,
): Promise<boolean> {
  if (options.demo === undefined) return false;
  return options.demo === 'always' || (await settingsOf(options)).file === null;
}

function logLevel(env: Env): LogLevel {
  const wanted = env.PML_LOG;
  return wanted === 'debug' || wanted === 'info' || wanted === 'error' ? wanted : 'warn';
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
