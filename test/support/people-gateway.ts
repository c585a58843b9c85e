import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/adapters/telemetry/logger.ts';
import { createRedactor } from '../../src/core/tracing/redact.ts';
import type { KeyRole, KeyScope } from '../../src/core/vocabulary/principal.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { createKeyRing } from '../../src/engine/people/key-ring.ts';
import type { KeyOrder } from '../../src/engine/people/people-service.ts';
import type { Settings } from '../../src/engine/ports.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { createMcpEndpoints } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { OWNER_TOKEN, startHttp } from './http-gateway.ts';
import { settingsFor } from './settings-for.ts';
import { testGateway, tool } from './test-gateway.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the API's answer can be anything
  readonly body: any;
}

/** The real engine behind the real HTTP surface, with keys: a `desk` whose `write` asks and whose `echo` does not. */
export async function peopleGateway(over: Partial<Settings> = {}, more: readonly MemoryServer[] = []) {
  const { permissions } = settingsFor([]);
  const { gateway, store } = await testGateway({
    servers: [
      {
        name: 'desk',
        tools: [tool('echo', (args) => args), tool('write', (args) => ({ written: args }))],
      },
      ...more,
    ],
    settings: { permissions: { ...permissions, ask: ['desk:write'], approvalWaitMs: 0 }, ...over },
  });
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const logger = createLogger({ level: 'debug', redact: createRedactor([OWNER_TOKEN]), json: true, stream });
  const ring = createKeyRing(gateway.store, { now: () => new Date(), monotonic: () => performance.now() });
  gateway.events.follow(({ event }) => event.type === 'key_changed' && ring.forget());
  const mcp = createMcpEndpoints(gateway, { version: '0.0.0', logger });
  const { app, listener, access } = await startHttp(
    {
      mcp,
      api: createApi(gateway, logger),
      logger,
    },
    { keys: ring },
  );
  onTestFinished(async () => {
    await listener.close();
    await mcp.close();
  });
  const ask = async (key: string, method: string, path: string, body?: unknown): Promise<Answer> => {
    const reply = await fetch(`${listener.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const keyFor = (role: KeyRole, name: string = role, user = name, scope?: KeyScope) =>
    newKey(gateway, { role, name, user, ...(scope && { scope }) });
  return { gateway, store, app, listener, access, ask, keyFor, log: () => lines.join('') };
}

async function newKey(gateway: Gateway, order: Omit<KeyOrder, 'by'>): Promise<string> {
  return (await gateway.people.createKey({ ...order, by: 'test' })).secret;
}
