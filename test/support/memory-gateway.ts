import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { soleGateway } from '../../src/adapters/store/team/sole-gateway.ts';
import type { TemplateEdge } from '../../src/core/graph/templates.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import { createGateway } from '../../src/engine/create-gateway.ts';
import type { FlowPorts } from '../../src/engine/flow-ports.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type {
  ChangeFeed,
  Embedder,
  Logger,
  Sandbox,
  ServerSettings,
  Settings,
  Store,
  TraceJournal,
  Trainer,
  TrainerLock,
} from '../../src/engine/ports.ts';
import { createEventLog } from '../../src/engine/traces/event-log.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import { createMemorySandbox } from '../memory/sandbox.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createMemoryTrainer } from '../memory/trainer.ts';
import { MemoryUpstream } from '../memory/upstream.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { createMemoryVectorIndex } from '../memory/vector-index.ts';

const SYSTEM_CLOCK = { now: () => new Date(), monotonic: () => performance.now() };

const NODE_CRYPTO = {
  randomUuid: randomUUID,
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

/** The settings a user has who wrote nothing but these servers. */
export function settingsFor(names: readonly string[], over: Partial<Settings> = {}): Settings {
  return {
    file: null,
    servers: names.map((name) => stdioServer(name)),
    permissions: {
      allow: [],
      ask: [],
      deny: [],
      auto: [],
      default: 'allow',
      profile: 'standard',
      approvalWaitMs: 100,
      clientsDecide: false,
    },
    record: [{ tools: '*', keep: 'full' }],
    embedding: { kind: 'minilm' },
    store: { url: null, pool: 4, statementTimeoutMs: 30_000, queueBytes: 2 ** 20, waitMs: 0 },
    retention: { tracesDays: null },
    http: { port: 0, host: '127.0.0.1', hosts: [] },
    learning: { enabled: true },
    workflow: { speculation: 0 },
    sharing: { traces: 'shared' },
    sandbox: {
      memoryMb: 128,
      cpuMs: 1_000,
      wallMs: 20_000,
      callsInFlight: 8,
      callsTotal: 100,
      argumentBytes: 1_000_000,
      resultBytes: 1_000_000,
      consoleBytes: 10_000,
    },
    templates: null,
    secrets: [],
    ...over,
  };
}

export function stdioServer(name: string, over: Partial<ServerSettings> = {}): ServerSettings {
  return {
    name,
    transport: 'stdio',
    command: 'unused',
    args: [],
    env: {},
    cwd: null,
    disabled: false,
    tools: { include: ['*'], exclude: [] },
    timeoutMs: 5_000,
    concurrency: 8,
    ...over,
  } as ServerSettings;
}

/** The real engine on the in-memory twins of its ports. */
export async function memoryGateway(
  servers: readonly MemoryServer[],
  over: {
    settings?: Partial<Settings>;
    store?: Store;
    changes?: ChangeFeed;
    trainerLock?: TrainerLock;
    journal?: TraceJournal | null;
    trainer?: Trainer;
    logger?: Logger;
    upstream?: MemoryUpstream;
    embedder?: Embedder;
    sandbox?: Sandbox;
    templates?: readonly TemplateEdge[];
    leaseMs?: number;
    /** False: do not wait until everything in the background is done. */
    settle?: boolean;
  } = {},
): Promise<{ gateway: Gateway; store: Store; upstream: MemoryUpstream }> {
  const store = over.store ?? createMemoryStore();
  const upstream = over.upstream ?? new MemoryUpstream(servers);
  const settings = settingsFor(
    servers.map((server) => server.name),
    over.settings,
  );
  const embedder = over.embedder ?? createMemoryEmbedder();
  const ports: FlowPorts = {
    store,
    changes: over.changes ?? soleGateway().changes,
    trainerLock: over.trainerLock ?? soleGateway().trainerLock,
    journal: over.journal ?? null,
    upstream,
    embedder,
    sandbox: over.sandbox ?? createMemorySandbox(),
    trainer:
      over.trainer ??
      createMemoryTrainer({ embedding: embedder.model, dimension: embedder.dimension, seed: 1 }),
    exporter: null,
    emptyIndex: () => createMemoryVectorIndex(embedder.dimension),
    clock: SYSTEM_CLOCK,
    crypto: NODE_CRYPTO,
    logger: over.logger ?? { log: () => {} },
    events: createEventLog(SYSTEM_CLOCK),
    redact: createRedactor(settings.secrets),
    sleep: async (ms, signal) => void (await setTimeout(ms, undefined, signal && { signal })),
  };
  const gateway = await createGateway(ports, settings, {
    templates: over.templates ?? [],
    ...(over.leaseMs !== undefined && { leaseMs: over.leaseMs }),
  });
  if (over.settle !== false) await gateway.settled();
  return { gateway, store, upstream };
}
