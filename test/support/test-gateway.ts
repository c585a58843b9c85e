import { onTestFinished } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import type { JsonObject, Sandbox, Upstream } from '../../src/engine/ports.ts';
import type { MemoryUpstream } from '../memory/upstream.ts';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from './open-test-gateway.ts';

export const NOBODY = { sessionId: null };

/** A sandbox process takes longer to start than most tests take: the gateways of one file share them. */
const processes = createSandbox();

/** The shared processes, for one gateway: closing it ends its own programs alone. */
function sharedSandbox(): Sandbox {
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  return {
    async run(program, host, { signal, ...options }) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      const outcome = processes.run(program, host, { ...options, signal: either });
      underWay.add(outcome);
      return await outcome.finally(() => underWay.delete(outcome));
    },
    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
    },
  };
}

/** The real engine with the real sandbox, by default with everything else in memory; closed when the test ends. */
export async function testGateway<U extends Upstream = MemoryUpstream>({
  sandbox = sharedSandbox(),
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
