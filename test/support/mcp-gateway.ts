import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { soleGateway } from '../../src/adapters/store/team/sole-gateway.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import { createGateway } from '../../src/engine/create-gateway.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Sandbox, ServerSettings } from '../../src/engine/ports.ts';
import { createEventLog } from '../../src/engine/traces/event-log.ts';
import { openUpstream } from '../contracts/upstream-support.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import { createMemorySandbox } from '../memory/sandbox.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createMemoryTrainer } from '../memory/trainer.ts';
import { createMemoryVectorIndex } from '../memory/vector-index.ts';
import { settingsFor } from './memory-gateway.ts';

const CLOCK = { now: () => new Date(), monotonic: () => performance.now() };
const CRYPTO = {
  randomUuid: randomUUID,
  sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
};

/** The real engine on real servers; only its memory is none. Closing it ends the servers. */
export async function gatewayOver(
  servers: readonly ServerSettings[],
  { sandbox = createMemorySandbox() }: { readonly sandbox?: Sandbox } = {},
): Promise<Gateway> {
  const { upstream, dispose } = openUpstream(servers);
  const embedder = createMemoryEmbedder();
  const offered = servers.map((server) => ({ ...server, tools: { include: ['*'], exclude: [] } }));
  const gateway = await createGateway(
    {
      store: createMemoryStore(),
      ...soleGateway(),
      journal: null,
      upstream,
      embedder,
      sandbox,
      trainer: createMemoryTrainer({ embedding: embedder.model, dimension: embedder.dimension, seed: 1 }),
      exporter: null,
      emptyIndex: () => createMemoryVectorIndex(embedder.dimension),
      clock: CLOCK,
      crypto: CRYPTO,
      logger: { log: () => {} },
      events: createEventLog(CLOCK),
      redact: createRedactor([]),
      sleep: async (ms, signal) => void (await setTimeout(ms, undefined, signal && { signal })),
    },
    { ...settingsFor([]), servers: offered },
  );
  await gateway.settled();
  const close = async () => {
    await gateway.close();
    await dispose();
  };
  return { ...gateway, close };
}
