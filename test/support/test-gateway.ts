import { onTestFinished } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import type { JsonObject, Upstream } from '../../src/engine/ports.ts';
import type { MemoryUpstream } from '../memory/upstream.ts';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from './open-test-gateway.ts';

export const NOBODY = { sessionId: null };

/** The real engine with the real sandbox, by default with everything else in memory; closed when the test ends. */
export async function testGateway<U extends Upstream = MemoryUpstream>({
  sandbox = createSandbox(),
  ...options
}: TestGatewayOptions<U> = {}): Promise<TestGateway<U>> {
  const opened = await openTestGateway({ ...options, sandbox });
  onTestFinished(() => opened.gateway.close());
  return opened;
}

/** A tool made of a function, whose result is the tool's text. */
export function tool(name: string, run: (args: JsonObject) => unknown, more: JsonObject = {}) {
  return {
    definition: { name, description: name, inputSchema: { type: 'object' }, ...more },
    call: async (args: JsonObject) => ({
      content: [{ type: 'text' as const, text: JSON.stringify((await run(args)) ?? null) }],
    }),
  };
}
