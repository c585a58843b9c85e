import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { loadTemplates } from '../adapters/config/load-templates.ts';
import { createEmbedder } from '../adapters/embedding/create-embedder.ts';
import { WasmVectorIndex } from '../adapters/embedding/wasm-vector-index.ts';
import { createSandbox } from '../adapters/sandbox/create-sandbox.ts';
import type { SqlStore } from '../adapters/store/sql-store.ts';
import { WorkerTrainer } from '../adapters/training/worker-trainer.ts';
import { reapOrphans } from '../adapters/upstream/child-registry.ts';
import { fileTokenStore } from '../adapters/upstream/file-token-store.ts';
import { McpUpstream } from '../adapters/upstream/mcp-upstream.ts';
import { createGateway } from '../engine/create-gateway.ts';
import type { FlowPorts } from '../engine/flow-ports.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { LoopWatch } from '../engine/ports/loop-watch.ts';
import type { Clock, Crypto, Logger, Settings, TraceExporter } from '../engine/ports.ts';
import type { EventLog } from '../engine/traces/event-log.ts';
import { openStore } from './open-store.ts';

const CRYPTO: Crypto = {
  randomUuid: randomUUID,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};

export interface GatewayParts {
  readonly version: string;
  readonly exporter: TraceExporter | null;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly logger: Logger;
  readonly loop?: LoopWatch;
  readonly redact: FlowPorts['redact'];
  readonly fillIn: boolean;
  readonly onStore: (store: SqlStore) => void;
  /** Told of what must not be shown from now on. */
  readonly onSecrets: (values: readonly string[]) => void;
  /** Whoever wanted it has gone before it was open. */
  readonly signal: AbortSignal;
}

/** The engine on its real ports: the store opened, what a killed gateway left behind ended. */
export async function openGateway(dir: string, settings: Settings, parts: GatewayParts): Promise<Gateway> {
  const { logger, redact, fillIn, version, exporter, clock, events, loop } = parts;
  const templates = await loadTemplates(settings.templates);
  await reapOrphans(dir);
  // Whoever only wants to look something up is told at once.
  const wanted = fillIn ? settings.store : { ...settings.store, waitMs: 0 };
  const opened = await openStore(dir, wanted, { logger, signal: parts.signal });
  parts.onStore(opened.store);
  const embedder = createEmbedder(settings.embedding);
  const upstream = new McpUpstream({
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
    trainer: new WorkerTrainer({ embedding: embedder.model, dimension: embedder.dimension, seed: 1 }),
    exporter,
    emptyIndex: () => new WasmVectorIndex(embedder.dimension),
    clock,
    crypto: CRYPTO,
    logger,
    ...(loop && { loop }),
    events,
    redact,
    sleep: async (ms, signal) =>
      void (await setTimeout(ms, undefined, { ref: false, ...(signal && { signal }) })),
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
