import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import type { TemplateEdge } from '../../src/core/graph/templates.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Capability, JsonObject, Sandbox, Settings, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { memoryGateway } from './memory-gateway.ts';
import { sampleCapability } from './samples.ts';

export interface CodeGatewayOptions {
  readonly servers?: readonly MemoryServer[];
  readonly settings?: Partial<Settings>;
  readonly store?: Store;
  readonly sandbox?: Sandbox;
  readonly capabilities?: readonly Partial<Capability>[];
  readonly templates?: readonly TemplateEdge[];
}

export const NOBODY = { sessionId: null };

/** The real engine with the real sandbox; closed when the test is over. */
export async function codeGateway({
  servers = [],
  settings = {},
  store = createMemoryStore(),
  sandbox = createSandbox(),
  capabilities = [],
  templates = [],
}: CodeGatewayOptions): Promise<{ gateway: Gateway; store: Store }> {
  for (const [i, over] of capabilities.entries()) await store.capabilities.put(readyCapability(over, i));
  const made = await memoryGateway(servers, { settings, store, sandbox, templates });
  onTestFinished(() => made.gateway.close());
  return made;
}

/** One that may be called with any arguments. */
export function readyCapability(over: Partial<Capability>, nth = 0): Capability {
  return sampleCapability({
    id: randomUUID(),
    slug: `capability_${nth}`,
    aliases: [],
    codeHash: randomUUID(),
    parametersSchema: { type: 'object' },
    state: 'active',
    ...over,
  });
}

/** A tool made of a function; what it gives is its text. */
export function tool(name: string, run: (args: JsonObject) => unknown, more: JsonObject = {}) {
  return {
    definition: { name, description: name, inputSchema: { type: 'object' }, ...more },
    call: async (args: JsonObject) => ({
      content: [{ type: 'text' as const, text: JSON.stringify((await run(args)) ?? null) }],
    }),
  };
}
