import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createEmbedder } from '../adapters/embedding/create-embedder.ts';
import { WasmVectorIndex } from '../adapters/embedding/wasm-vector-index.ts';
import { fileTokenStore } from '../adapters/upstream/file-token-store.ts';
import { McpUpstream } from '../adapters/upstream/mcp-upstream.ts';
import { createGateway } from '../engine/create-gateway.ts';
import { createEventLog } from '../engine/event-log.ts';
import type { FlowPorts } from '../engine/flow-ports.ts';
import type { Gateway } from '../engine/gateway.ts';
import type { Clock, Crypto, Logger, Settings, Store } from '../engine/ports.ts';

const CLOCK: Clock = { now: () => new Date(), monotonic: () => performance.now() };

const CRYPTO: Crypto = {
  randomUuid: randomUUID,
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};

interface GatewayParts {
  readonly version: string;
  readonly store: Store;
  readonly logger: Logger;
  readonly redact: (value: unknown) => unknown;
  readonly fillIn: boolean;
}

/** The engine on its real ports. */
export async function openGateway(dir: string, settings: Settings, parts: GatewayParts): Promise<Gateway> {
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
