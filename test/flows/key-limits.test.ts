import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  FULL_SCOPE,
  type KeyScope,
  type Principal,
  type UsageLimit,
} from '../../src/core/vocabulary/principal.ts';
import type { Caller } from '../../src/engine/gateway.ts';
import type { JsonObject, Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

// A budget is reset at midnight, even in the middle of a test.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-15T10:00:00Z') }));
afterEach(() => void vi.useRealTimers());

const keyed = (scope: Partial<KeyScope>, sessionId: string | null = null): Caller => {
  const who: Principal = {
    name: 'ci',
    user: 'ci',
    role: 'agent',
    keyId: 'key-ci',
    scope: { ...FULL_SCOPE, ...scope },
  };
  return { sessionId, who };
};

const limited = (...limits: UsageLimit[]) => keyed({ limits });

/** Tools of one server; the made calls are counted. */
async function counted(
  store: Store = createMemoryStore(),
  answer: (args: JsonObject) => unknown = () => 'ok',
) {
  const calls: JsonObject[] = [];
  const noted = (name: string) =>
    tool(name, async (args) => {
      calls.push({ name, ...args });
      await new Promise(setImmediate);
      return await answer({ name, ...args });
    });
  const made = await testGateway({
    servers: [{ name: 's', tools: [noted('a'), noted('b'), noted('c')] }],
    store,
    settings: { permissions: { ...settingsFor([]).permissions, deny: ['s:c'] } },
  });
  const call = (caller: Caller, args: JsonObject = {}, name = 's:a') =>
    made.gateway.executeTool({ tool: name, arguments: args }, caller);
  return { ...made, calls, call };
}

const TEN: UsageLimit = { unit: 'calls', per: 'day', most: 10 };

test('[SCOPE-4] of 64 parallel calls, by tool, program and plan, only as many run as the key has left', async () => {
  const { call, calls, gateway, store } = await counted();
  const caller = limited(TEN);
  const code =
    'return (await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map((i) => mcp.s.a({ i })))).length';
  const tasks = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => ({
    id: `t${i}`,
    tool: 's:a',
    arguments: { i },
    dependsOn: [],
  }));
  const made = await Promise.all([
    ...Array.from({ length: 32 }, (_, i) => call(caller, { i })),
    ...Array.from({ length: 2 }, () => gateway.executeCode({ code }, caller)),
    ...Array.from({ length: 2 }, () => gateway.executeWorkflow({ tasks, inputs: [] }, null, caller)),
  ]);
  expect(calls).toHaveLength(10);
  const refused = made.find(({ error }) => error?.code === 'rate_limited');
  expect(refused?.error).toMatchObject({
    message: expect.stringMatching(
      /^Key "ci" has used up its limit of 10 calls per day; it is free again at \d{4}-\d\d-\d\d 00:00:00 UTC, in \d+ s$/,
    ),
    hint: expect.stringContaining('Do not repeat the call before that time'),
  });
  const log = await store.audit.list({ limit: 9, action: 'limit_reached' });
  expect(log).toMatchObject([{ actor: 'ci', subject: 'key-ci', details: { unit: 'calls', most: 10 } }]);
});

test('[SCOPE-4] two gateways on one store, and one that restarts, share the limits of a key', async () => {
  const store = createMemoryStore();
  const [one, other] = [await counted(store), await counted(store)];
  const caller = limited(TEN);
  await Promise.all(
    [one, other].flatMap(({ call }) => Array.from({ length: 32 }, (_, i) => call(caller, { i }))),
  );
  expect(one.calls.length + other.calls.length).toBe(10);
  const again = await counted(store);
  expect((await again.call(caller)).error?.code).toBe('rate_limited');
  // Another key has its own.
  const others = { ...caller, who: { ...caller.who!, keyId: 'key-b' } };
  expect((await again.call(others)).status).toBe('success');
});

test('[SCOPE-5] tokens are reserved before the call: of 64 parallel calls with large answers, at most eight run', async () => {
  const { call, calls, store } = await counted(createMemoryStore(), () => 'x'.repeat(4_700));
  const caller = limited({ unit: 'tokens', per: 'day', most: 2_000 });
  const made = await Promise.all(Array.from({ length: 64 }, (_, i) => call(caller, { i })));
  expect(calls.length).toBeLessThanOrEqual(8);
  expect(made.filter(({ error }) => error?.code === 'rate_limited')).toHaveLength(64 - calls.length);
  const [used] = await store.usage.read('key-ci', new Date());
  expect(used!.tokens).toBeGreaterThan(2_000);
  expect(used!.tokens).toBeLessThan(calls.length * 1_100);
});

test('[SCOPE-5] an unused reservation is free again: small answers all fit, whatever was reserved for them', async () => {
  const { call, calls, store } = await counted();
  const caller = limited(
    { unit: 'tokens', per: 'day', most: 2_000 },
    { unit: 'seconds', per: 'day', most: 600 },
  );
  const made = await Promise.all(Array.from({ length: 40 }, (_, i) => call(caller, { i })));
  expect(made.every(({ status }) => status === 'success')).toBe(true);
  expect(calls).toHaveLength(40);
  const [used] = await store.usage.read('key-ci', new Date());
  expect(used!.tokens).toBeLessThan(2_000);
  expect(used!.seconds).toBeGreaterThan(0);
});

test('[SCOPE-5] a refused call, or one that a person must decide about, uses no budget', async () => {
  const { call, store } = await counted();
  const caller = limited(TEN, { unit: 'tokens', per: 'day', most: 1_000 });
  expect((await call(caller, {}, 's:c')).error?.code).toBe('forbidden');
  expect(await store.usage.read('key-ci', new Date())).toMatchObject([{ calls: 0, tokens: 0 }]);
});

test('[SCOPE-4] a budget that cannot be read lets nothing through', async () => {
  const store = createMemoryStore();
  const { call, calls } = await counted({
    ...store,
    usage: { ...store.usage, reserve: () => Promise.reject(new Error('the store is away')) },
  });
  expect((await call(limited(TEN))).status).toBe('error');
  expect(calls).toEqual([]);
});

const breaking = (sessionId: string | null = null) => keyed({ loops: 3 }, sessionId);

test('[SCOPE-6] the same call is refused after too many equal answers, however its arguments are written, with the reason', async () => {
  const { call, calls } = await counted();
  const [one, other] = [
    { path: 'x', more: { a: 1, b: [1, 2] } },
    { more: { b: [1, 2], a: 1 }, path: 'x' },
  ];
  for (const args of [one, other, one]) expect((await call(breaking(), args)).status).toBe('success');
  const refused = await call(breaking(), other);
  expect(refused.error).toMatchObject({
    code: 'rate_limited',
    message: 's:a would continue a loop: the same call came 3 times in a row, and gave the same answers',
    hint: expect.stringContaining('wait 30 s before the same call'),
  });
  expect(calls).toHaveLength(3);
  expect((await call(breaking(), { path: 'y' })).status).toBe('success');
  expect((await call(breaking(), one)).status).toBe('success');
});

test('[SCOPE-6] so are cycles, also across sessions, by code, and of calls that fail', async () => {
  const { call, calls, gateway } = await counted(createMemoryStore(), ({ name, i }) => {
    if (name === 'b') throw new Error('always broken');
    return i ?? 'ok';
  });
  const cycle = async (names: readonly string[], sessions: readonly string[]) => {
    let made = 0;
    for (let at = 0; at < 40; at++) {
      const caller = breaking(sessions[at % sessions.length]!);
      const { error } = await call(caller, { of: names.join() }, names[at % names.length]!);
      if (error?.code === 'rate_limited') return made;
      made++;
    }
    return made;
  };
  expect(await cycle(['s:a', 's:b'], ['one'])).toBe(6);
  expect(await cycle(['s:a', 's:a', 's:b'], ['two'])).toBe(9);
  expect(await cycle(['s:b'], ['three', 'four', 'five'])).toBe(3);
  calls.length = 0;
  const code = 'for (let n = 0; n < 50; n++) await mcp.s.a({ same: true }); return "done"';
  expect((await gateway.executeCode({ code }, breaking('six'))).error?.message).toContain('loop');
  expect(calls).toHaveLength(3);
});

test('[SCOPE-6] polling that sees something new each time continues, and so does work on many objects', async () => {
  let tick = 0;
  const { call, gateway } = await counted(createMemoryStore(), ({ name }) => (name === 'a' ? ++tick : 'ok'));
  for (let i = 0; i < 20; i++) expect((await call(breaking())).status).toBe('success');
  const code = 'for (let i = 0; i < 20; i++) { await mcp.s.b({}); await mcp.s.a({ i }) } return "done"';
  expect((await gateway.executeCode({ code }, breaking('other'))).result).toBe('done');
  // Without the rule, everything goes.
  for (let i = 0; i < 5; i++) expect((await call(keyed({}), {}, 's:b')).status).toBe('success');
});
