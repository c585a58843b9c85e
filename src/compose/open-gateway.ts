import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { loadTemplates } from '../adapters/config/load-templates.ts';
import { createEmbedder } from '../adapters/embedding/create-embedder.ts';
import { createSandbox } from '../adapters/sandbox/create-sandbox.ts';
import { openPgliteStore, soleGateway } from '../adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../adapters/store/open-postgres-store.ts';
import { openWhenAvailable } from '../adapters/store/open-when-available.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { openPostgresTeam } from '../adapters/store/team/open-postgres-team.ts';
import { openTraceJournal } from '../adapters/store/trace-journal.ts';
import { WorkerTrainer } from '../adapters/training/worker-trainer.ts';
import { fileTokenStore } from '../adapters/upstream/file-token-store.ts';
import { McpUpstream } from '../adapters/upstream/mcp-upstream.ts';
import { reapOrphans } from '../adapters/upstream/process-tree.ts';
import { WasmVectorIndex } from '../core/retrieval/wasm-vector-index.ts';
import type { FlowPorts } from '../engine/flow-ports.ts';
import type { Gateway } from '../engine/gateway.ts';
import { createGateway } from '../engine/gateway.ts';
import type { LoopWatch } from '../engine/ports/process.ts';
import type {
  Clock,
  Crypto,
  Embedder,
  Logger,
  Settings,
  StoreSettings,
  TraceExporter,
  Upstream,
} from '../engine/ports.ts';
import type { EventLog } from '../engine/traces/event-log.ts';

const DEFAULTS = {
  /** Milliseconds that a receiver of alerts has to answer. */
  postMs: 10_000,
};

interface OpenStore extends Pick<FlowPorts, 'changes' | 'trainerLock' | 'journal'> {
  readonly store: SqlStore;
  close(): Promise<void>;
}

interface OpenStoreOptions {
  readonly logger?: Logger;
  /** Ends the wait for an unavailable server. */
  readonly signal?: AbortSignal;
}

const CRYPTO: Crypto = {
  randomUuid: randomUUID,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};

export interface GatewayParts {
  readonly version: string;
  readonly exporter: TraceExporter | null;
  readonly clock: Clock;
  readonly sleep: FlowPorts['sleep'];
  readonly events: EventLog;
  readonly logger: Logger;
  readonly loop?: LoopWatch;
  readonly redact: FlowPorts['redact'];
  readonly fillIn: boolean;
  readonly onStore: (store: SqlStore) => void;
  /** Receives values that must be redacted from now on. */
  readonly onSecrets: (values: readonly string[]) => void;
  /** Aborted when the caller is gone before the gateway is open. */
  readonly signal: AbortSignal;
  /** Stand in for what the settings say. */
  readonly upstream?: Upstream;
  readonly embedder?: Embedder;
}

/** The engine on its real adapters: opens the store and ends processes that a killed gateway left. */
export async function openGateway(dir: string, settings: Settings, parts: GatewayParts): Promise<Gateway> {
  const { logger, redact, fillIn, version, exporter, clock, events, loop } = parts;
  const templates = await loadTemplates(settings.templates);
  await reapOrphans(dir);
  // A command that only looks something up gets an error at once.
  const wanted = fillIn ? settings.store : { ...settings.store, waitMs: 0 };
  const opened = await openStore(dir, wanted, { logger, signal: parts.signal });
  parts.onStore(opened.store);
  const embedder = parts.embedder ?? createEmbedder(settings.embedding);
  const upstream =
    parts.upstream ??
    new McpUpstream({
      servers: settings.servers,
      dataDir: dir,
      tokens: fileTokenStore(dir),
      onSecrets: parts.onSecrets,
      clock,
      random: Math.random,
      logger,
      info: { name: 'pml', version },
    });
  const { store, changes, trainerLock, journal } = opened;
  const ports: FlowPorts = {
    store,
    changes,
    trainerLock,
    journal,
    upstream,
    embedder,
    sandbox: createSandbox({ logger }),
    trainer: new WorkerTrainer({
      embedding: embedder.model,
      dimension: embedder.dimension,
      seed: 1,
      ...(settings.learning.model && { model: settings.learning.model }),
    }),
    exporter,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
    clock,
    sleep: parts.sleep,
    crypto: CRYPTO,
    logger,
    ...(loop && { loop }),
    events,
    redact,
    post,
  };
  const gateway = await createGateway(ports, settings, { fillIn, templates });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await opened.close();
    },
  };
}

/** Follows no redirect: the address is the one that was configured. */
async function post(url: string, body: unknown, signal: AbortSignal): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(DEFAULTS.postMs)]),
  });
  await reply.body?.cancel();
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
}

/** The gateway's store: its own, or a shared one, which may be unavailable for a while. */
export async function openStore(
  dir: string,
  settings: StoreSettings,
  options: OpenStoreOptions = {},
): Promise<OpenStore> {
  const { url, waitMs } = settings;
  if (url === null) {
    const store = await openPgliteStore(dir);
    return { store, ...soleGateway(), journal: null, close: store.close };
  }
  return await openWhenAvailable(() => openShared(dir, url, settings, options.logger), {
    waitMs,
    ...options,
  });
}

async function openShared(
  dir: string,
  url: string,
  { pool, statementTimeoutMs, queueBytes }: StoreSettings,
  logger?: Logger,
): Promise<OpenStore> {
  const name = `pml ${randomUUID()}`;
  const store = await openPostgresStore(url, { name, pool, statementTimeoutMs });
  try {
    const { changes, trainerLock, close } = await openPostgresTeam(url, name, logger);
    const journal = openTraceJournal(join(dir, 'queue'), { maxBytes: queueBytes });
    return {
      store,
      changes,
      trainerLock,
      journal,
      async close() {
        await close();
        await store.close();
        journal.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
