import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFailoverBridge } from './adapters/client/failover-bridge.ts';
import { createHttpBridge } from './adapters/client/http-bridge.ts';
import { createRemoteStore } from './adapters/client/remote-store.ts';
import { prepareDemo } from './adapters/config/demo-settings.ts';
import { dataDir as dataDirOf } from './adapters/config/find-config.ts';
import { loadSettings } from './adapters/config/load-settings.ts';
import { createEmbedder } from './adapters/embedding/create-embedder.ts';
import { ensureDataDir, readToken } from './adapters/store/data-dir.ts';
import {
  acquireDataDir,
  type DataDirLock,
  type Holder,
  isAlive,
  readHolder,
} from './adapters/store/data-dir-lock.ts';
import { openPgliteStore } from './adapters/store/open-pglite-store.ts';
import { openPostgresStore } from './adapters/store/open-postgres-store.ts';
import { createLogger } from './adapters/telemetry/logger.ts';
import { createRedactor } from './core/tracing/redact.ts';
import { PmlError } from './core/vocabulary/pml-error.ts';
import type { Logger, RemoteProcedures, Settings } from './engine/ports.ts';
import { localBridge, storeProcedures } from './engine/remote-procedures.ts';
import type {
  GlobalOptions,
  OpenedStore,
  RunningGateway,
  ServeOptions,
  System,
} from './surfaces/cli/system.ts';
import { createAccess } from './surfaces/http/access.ts';
import { createApp } from './surfaces/http/create-app.ts';
import { hostsOf } from './surfaces/http/guard.ts';
import { type Listener, listen } from './surfaces/http/listen.ts';

const DEFAULTS = {
  /** How long a command waits for a holder that is just starting to say where it listens. */
  holderWaitMs: 15_000,
  holderPollMs: 100,
};

type Env = Readonly<Record<string, string | undefined>>;

/** Where everything is put together; the only file that knows all the others. */
export function compose(env: Env, cwd: string): System {
  const version = readVersion();
  const source = ({ config, data }: GlobalOptions) => ({
    env,
    cwd,
    ...(config !== undefined && { file: config }),
    ...(data !== undefined && { data }),
  });
  const dataDir = (options: GlobalOptions) => dataDirOf(source(options));
  const settingsOf = (options: GlobalOptions) => loadSettings(source(options));

  return {
    version,
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
      return await openStore(dir, settings, role, { version, env });
    },

    async serve(options) {
      const demo = await wantsDemo(options, settingsOf);
      const dir = demo ? join(dataDir(options), 'demo') : dataDir(options);
      await ensureDataDir(dir);
      const settings = demo ? await prepareDemo(dir) : await settingsOf(options);
      const claim = await acquireDataDir(dir, 'serve');
      if ('heldBy' in claim) throw heldBy(dir, claim.heldBy);
      return await serveFrom(dir, settings, claim.lock, { version, env, options, demo });
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

/** The lock, or the living holder once it says where it listens. */
async function claimOrReach(dir: string, role: string): Promise<{ lock: DataDirLock } | { holder: Holder }> {
  for (let waited = 0; ; waited += DEFAULTS.holderPollMs) {
    const claim = await acquireDataDir(dir, role);
    if ('lock' in claim) return claim;
    if (claim.heldBy.port !== null) return { holder: claim.heldBy };
    if (waited >= DEFAULTS.holderWaitMs) {
      throw new PmlError(
        'holder_unreachable',
        `Process ${claim.heldBy.pid} holds ${dir} but does not listen`,
        {
          hint: `Stop it (kill ${claim.heldBy.pid}) and try again.`,
        },
      );
    }
    await new Promise((wake) => setTimeout(wake, DEFAULTS.holderPollMs));
  }
}

interface Process {
  readonly version: string;
  readonly env: Env;
}

/** Also a short-lived command listens: another one started beside it bridges instead of failing. */
async function openStore(
  dir: string,
  settings: Settings,
  role: string,
  process: Process,
): Promise<OpenedStore> {
  let through: Holder | null = null;
  const bridge = createFailoverBridge(async () => {
    const claim = await claimOrReach(dir, role);
    if ('holder' in claim) {
      through = claim.holder;
      return createHttpBridge(claim.holder.port ?? 0, await readToken(dir));
    }
    through = null;
    const held = await hold(dir, settings, claim.lock, { ...process, host: '127.0.0.1', port: 0 });
    return localBridge(held.procedures, held.close);
  });
  return { store: createRemoteStore(bridge), through: () => through, close: bridge.close };
}

interface HoldOptions extends Process {
  readonly host: string;
  readonly port: number;
  /** Take any free port when the wanted one is taken. */
  readonly anyPort?: boolean;
}

interface Held {
  readonly procedures: RemoteProcedures;
  readonly logger: Logger;
  readonly listener: Listener;
  readonly createLink: () => string;
  close(): Promise<void>;
}

/** Opens the store behind a listener and tells others where it is; undone in reverse. */
async function hold(dir: string, settings: Settings, lock: DataDirLock, options: HoldOptions): Promise<Held> {
  const undo: (() => Promise<void>)[] = [lock.release];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const token = await readToken(dir);
    const logger = createLogger({
      level: logLevel(options.env),
      redact: createRedactor([...settings.secrets, token]),
    });
    const store = await (settings.store.url ? openPostgresStore(settings.store.url) : openPgliteStore(dir));
    undo.push(store.close);
    const access = createAccess(token);
    let listener: Listener | undefined;
    const createLink = () => `${listener?.url}/login?code=${access.createLoginCode()}`;
    const procedures = { ...storeProcedures(store), login: { createLink: async () => createLink() } };
    const app = createApp({
      access,
      logger,
      now: () => performance.now(),
      allowedHosts: () => hostsOf(options.host, listener?.port ?? options.port),
      procedures,
      about: () => ({ version: options.version, pid: process.pid, role: lock.holder.role }),
    });
    listener = await listenOn(app, options);
    undo.push(listener.close);
    await lock.announce(listener.port);
    undo.push(() => lock.announce(null));
    return { procedures, logger, listener, createLink, close };
  } catch (error) {
    await close();
    throw error;
  }
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
  readonly demo: boolean;
}

async function serveFrom(
  dir: string,
  settings: Settings,
  lock: DataDirLock,
  { version, env, options, demo }: ServeContext,
): Promise<RunningGateway> {
  const host = options.host ?? settings.http.host;
  const port = options.port ?? settings.http.port;
  const held = await hold(dir, settings, lock, {
    version,
    env,
    host,
    port,
    anyPort: demo && options.port === undefined,
  });
  held.logger.log('info', 'The gateway is up', { url: held.listener.url, data: dir });
  return {
    url: held.listener.url,
    loginUrl: held.createLink(),
    dataDir: dir,
    settings,
    notes: notesFor(settings, demo, port !== 0 && held.listener.port !== port ? port : null),
    close: held.close,
  };
}

function notesFor(settings: Settings, demo: boolean, takenPort: number | null): string[] {
  const notes: string[] = [];
  if (takenPort !== null) notes.push(`Port ${takenPort} is taken, so another one was chosen.`);
  if (demo) notes.push('This is the demo, on a scratch folder of its own.');
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

function heldBy(dir: string, holder: Holder): PmlError {
  const where = holder.port === null ? 'still starting' : `listening on port ${holder.port}`;
  return new PmlError(
    'data_dir_held',
    `${dir} is held by "pml ${holder.role}" (pid ${holder.pid}, ${where})`,
    {
      hint: `Use that one, stop it (kill ${holder.pid}), or give this one another folder with --data.`,
    },
  );
}

function logLevel(env: Env): 'debug' | 'info' | 'warn' | 'error' {
  const wanted = env.PML_LOG;
  return wanted === 'debug' || wanted === 'info' || wanted === 'error' ? wanted : 'warn';
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
