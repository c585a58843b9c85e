import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { soleGateway } from '../../src/adapters/store/open-pglite-store.ts';
import type { TemplateEdge } from '../../src/core/graph/templates.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import type { FlowPorts } from '../../src/engine/flow-ports.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { createGateway } from '../../src/engine/gateway.ts';
import type { Capability, Settings, Store, Upstream } from '../../src/engine/ports.ts';
import { createEventLog } from '../../src/engine/traces/event-log.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import { createMemorySandbox } from '../memory/sandbox.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createMemoryTrainer } from '../memory/trainer.ts';
import { MemoryUpstream } from '../memory/upstream.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { createMemoryVectorIndex } from '../memory/vector-index.ts';
import { readyCapability } from './samples.ts';
import { settingsFor } from './settings-for.ts';

const SYSTEM_CLOCK = { now: () => new Date(), monotonic: () => performance.now() };

const NODE_CRYPTO = {
  randomUuid: randomUUID,
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

/** Ports that are not given are in memory. */
type GivenPorts = Partial<
  Pick<
    FlowPorts,
    | 'store'
    | 'changes'
    | 'trainerLock'
    | 'journal'
    | 'trainer'
    | 'logger'
    | 'embedder'
    | 'sandbox'
    | 'sleep'
    | 'exporter'
  >
>;

export interface TestGatewayOptions<U extends Upstream = MemoryUpstream> extends GivenPorts {
  readonly servers?: readonly MemoryServer[];
  /** Instead of the servers in memory. */
  readonly upstream?: U;
  readonly settings?: Partial<Settings>;
  /** Content of the store before the gateway opens. */
  readonly capabilities?: readonly Partial<Capability>[];
  readonly templates?: readonly TemplateEdge[];
  readonly leaseMs?: number;
  /** False: no person who could decide is watching. */
  readonly attended?: boolean;
  /** False: do not wait until all background work is done. */
  readonly settle?: boolean;
}

export interface TestGateway<U extends Upstream = MemoryUpstream> {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly upstream: U;
}

/**
 * The real engine on the given ports, for child processes, benchmarks and hooks: the caller closes it, and vitest is
 * not needed. Tests use `testGateway`.
 */
export async function openTestGateway<U extends Upstream = MemoryUpstream>({
  servers = [],
  store = createMemoryStore(),
  embedder = createMemoryEmbedder(),
  ...options
}: TestGatewayOptions<U>): Promise<TestGateway<U>> {
  for (const [i, over] of (options.capabilities ?? []).entries()) {
    await store.capabilities.put(readyCapability(over, i));
  }
  const upstream = options.upstream ?? (new MemoryUpstream(servers) as Upstream as U);
  const settings = settingsFor(
    servers.map(({ name }) => name),
    options.settings,
  );
  const alone = soleGateway();
  const ports: FlowPorts = {
    store,
    changes: options.changes ?? alone.changes,
    trainerLock: options.trainerLock ?? alone.trainerLock,
    journal: options.journal ?? null,
    upstream,
    embedder,
    sandbox: options.sandbox ?? createMemorySandbox(),
    trainer:
      options.trainer ??
      createMemoryTrainer({ embedding: embedder.model, dimension: embedder.dimension, seed: 1 }),
    exporter: options.exporter ?? null,
    emptyIndex: () => createMemoryVectorIndex(embedder.dimension),
    clock: SYSTEM_CLOCK,
    crypto: NODE_CRYPTO,
    logger: options.logger ?? { log: () => {} },
    events: createEventLog(SYSTEM_CLOCK),
    redact: createRedactor(settings.secrets),
    sleep:
      options.sleep ?? (async (ms, signal) => void (await setTimeout(ms, undefined, signal && { signal }))),
  };
  const gateway = await createGateway(ports, settings, {
    templates: options.templates ?? [],
    ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
  });
  if (options.attended !== false) gateway.events.attend();
  if (options.settle !== false) await gateway.settled();
  return { gateway, store, upstream };
}
