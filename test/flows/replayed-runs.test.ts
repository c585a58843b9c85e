import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { type ExecutionTrace, traceToWire } from '../../src/core/vocabulary/execution-trace.ts';
import { traceFromWire } from '../../src/core/vocabulary/trace-from-wire.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Store } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { openTestGateway } from '../support/open-test-gateway.ts';
import { settingsFor } from '../support/settings-for.ts';
import { NOBODY, tool } from '../support/test-gateway.ts';

const READS = { annotations: { readOnlyHint: true } };

/** A shop whose answers are never the same twice, and all that it was asked. */
const asked: string[] = [];
let price = 0;
const noted = (name: string, give: (args: Record<string, unknown>) => unknown, more = {}) =>
  tool(
    name,
    (args) => {
      asked.push(name);
      return give(args);
    },
    more,
  );
const SHOP: MemoryServer = {
  name: 'shop',
  tools: [
    noted('price', ({ item }) => ({ item, price: ++price, at: { time: price } }), READS),
    noted('stock', ({ item }) => [`${item}`, ++price], READS),
    noted('quiet', () => ++price, READS),
    noted('login', () => ({ password: 'hunter2hunter2' }), READS),
    noted('order', ({ item }) => ({ id: `order-${item}-${++price}` })),
    {
      definition: { name: 'fail', description: 'fails', inputSchema: { type: 'object' } },
      call: async () => ({ content: [{ type: 'text', text: 'out of stock' }], isError: true }),
    },
  ],
};

const CODE = `
const before = Date.now();
const prices = await Promise.all(['tea', 'milk', 'tea'].map((item) => mcp.shop.price({ item })));
const named = await capabilities.in_stock({ item: prices[0].item });
let failure = null;
try { await mcp.shop.fail({}) } catch (error) { failure = [error.name, error.code, error.message, error.errorType] }
const { id } = await mcp.shop.order({ item: 'tea' });
const first = await Promise.race([mcp.shop.stock({ item: 'a' }), mcp.shop.stock({ item: 'b' })]);
return { id, prices, named, failure, first, random: Math.random(), ms: Date.now() - before, keys: Object.keys(args) };`;

const IN_STOCK = {
  slug: 'in_stock',
  code: 'const [name, left] = await mcp.shop.stock({ item: args.item }); return { name, left, now: Date.now() };',
};

let gateway: Gateway;
let store: Store;

beforeAll(async () => {
  const permissions = { ...settingsFor([]).permissions, auto: ['shop:*'] };
  const record = [{ tools: 'shop:quiet', keep: 'metadata' as const }];
  const opened = await openTestGateway({
    servers: [SHOP],
    capabilities: [IN_STOCK],
    sandbox: createSandbox(),
    settings: { permissions, record },
  });
  ({ gateway, store } = opened);
});
afterAll(() => gateway.close());
beforeEach(() => {
  asked.length = 0;
});

async function recorded(code: string, args = {}) {
  const run = await gateway.executeCode({ code, arguments: args }, NOBODY);
  const trace = (await store.traces.get(run.traceId ?? ''))!;
  return { run, trace };
}

/** Stored under another id, with something changed. */
async function altered(trace: ExecutionTrace, more: Partial<ExecutionTrace>): Promise<ExecutionTrace> {
  const other = { ...trace, id: crypto.randomUUID(), runId: crypto.randomUUID(), ...more };
  await store.traces.append(other);
  return other;
}

function against(trace: ExecutionTrace, how: 'cassette' | 'live' = 'cassette', ignore: string[] = []) {
  return gateway.replayRun(trace, { against: how, ignore }, NOBODY);
}

describe('on the cassette', () => {
  test('[TAPE-1] a run is the same each time, with its clock, random numbers, errors and races, and calls nothing', async () => {
    const { run, trace } = await recorded(CODE, { b: 1, a: 2 });
    expect(run).toMatchObject({ status: 'success', result: { keys: ['b', 'a'] } });
    expect((run.result as { failure: unknown }).failure).toEqual([
      'ToolError',
      'tool_failed',
      'out of stock',
      null,
    ]);
    const before = { asked: [...asked], traces: await store.traces.count() };
    for (let times = 0; times < 8; times++) {
      expect(await against(trace)).toEqual({
        traceId: trace.id,
        against: 'cassette',
        isEqual: true,
        difference: null,
        calls: 9,
        notWhole: [],
        replayTraceId: null,
      });
    }
    await gateway.settled();
    expect({ asked, traces: await store.traces.count() }).toEqual(before);
  });

  test('[TAPE-1] it is the same after export and import, without any server or tool', async () => {
    const code = 'const p = await mcp.shop.price({ item: args.item }); return [p, Date.now()];';
    const { trace } = await recorded(code, { item: 'tea' });
    const elsewhere = JSON.stringify(traceToWire(trace)).replaceAll('shop', 'closed');
    const told = traceFromWire(JSON.parse(elsewhere));
    expect(told.guest).toEqual(trace.guest);
    expect(await against({ ...trace, ...told })).toMatchObject({ isEqual: true, calls: 1 });
  });

  test.each([
    [
      'another tool',
      'await mcp.shop.stock({ item: "tea" }); return 1',
      { what: 'tool', call: 'shop:price#0', recorded: 'shop:price', replayed: 'shop:stock' },
    ],
    [
      'other arguments',
      'await mcp.shop.price({ item: "milk" }); return 1',
      { what: 'arguments', call: 'shop:price#0', path: 'item', recorded: 'tea', replayed: 'milk' },
    ],
    ['no call', 'return 1', { what: 'missing', call: 'shop:price#0' }],
    [
      'another call',
      'await mcp.shop.price({ item: "tea" }); await mcp.shop.order({ item: "x" }); return 1',
      { what: 'extra', call: 'shop:order#0' },
    ],
    [
      'another result',
      'await mcp.shop.price({ item: "tea" }); return { n: [1, 2] }',
      { what: 'result', call: null, path: '', recorded: 1, replayed: { n: [1, 2] } },
    ],
    [
      'an error',
      'await mcp.shop.price({ item: "tea" }); throw new Error("no")',
      { what: 'error', call: null, recorded: null, replayed: expect.stringContaining('no') },
    ],
  ])('[TAPE-2] %s is the first difference', async (_, code, difference) => {
    const { trace } = await recorded('await mcp.shop.price({ item: "tea" }); return 1');
    const report = await against(await altered(trace, { code }));
    expect(report).toMatchObject({ isEqual: false, difference });
    expect(asked).toEqual(['price']);
  });

  test('[TAPE-2] a different order of calls is a difference, unless they were parallel', async () => {
    const { trace } = await recorded(
      'await mcp.shop.price({ item: "a" }); await mcp.shop.stock({ item: "b" })',
    );
    const swapped = await altered(trace, {
      code: 'await mcp.shop.stock({ item: "b" }); await mcp.shop.price({ item: "a" })',
    });
    expect(await against(swapped)).toMatchObject({ difference: { what: 'tool', call: 'shop:price#0' } });
  });

  test('[TAPE-3] a failed run, a run of a capability and a single call can be replayed', async () => {
    const { trace } = await recorded('await mcp.shop.fail({})');
    expect(trace.success).toBe(false);
    expect(await against(trace)).toMatchObject({ isEqual: true, calls: 1 });
    const called = await gateway.executeCapability(
      { capability: 'in_stock', arguments: { item: 'tea' } },
      NOBODY,
    );
    expect(await against((await store.traces.get(called.traceId!))!)).toMatchObject({
      isEqual: true,
      calls: 2,
    });
    for (const name of ['price', 'fail']) {
      const single = await gateway.executeTool({ tool: `shop:${name}`, arguments: { item: 'tea' } }, NOBODY);
      await gateway.settled();
      expect(await against((await store.traces.get(single.traceId!))!)).toMatchObject({
        isEqual: true,
        calls: 1,
      });
    }
  });

  test('[TAPE-4] an incomplete trace is refused with the reason', async () => {
    const { trace } = await recorded('await mcp.shop.price({ item: "tea" }); return 1');
    const refused = async (more: Partial<ExecutionTrace>) => {
      const error = await against(await altered(trace, more)).catch((thrown: unknown) => thrown);
      return (error as Error).message;
    };
    expect(
      await refused({
        code: null,
        guest: null,
        taskResults: [{ id: 't1', node: 'shop:price', status: 'success' }],
      }),
    ).toContain('its plan is no longer stored');
    expect(await refused({ code: 'const key = "[redacted]"; return 1' })).toContain('held a secret');
    expect(await refused({ guest: null })).toContain('clock');
    expect(await refused({ taskResults: [{ status: 'approval_required' }] })).toContain(
      'stopped before its end',
    );
    expect(await refused({ events: trace.events.slice(0, 1) })).toContain(
      'shop:price#0 was not recorded in full',
    );

    const quiet = await recorded('return await mcp.shop.quiet({})');
    await expect(against(quiet.trace)).rejects.toThrow('shop:quiet#0 was not recorded in full');
  });

  test('[TAPE-5] results that were stored redacted or cut are named', async () => {
    const { trace } = await recorded('const { password } = await mcp.shop.login({}); return password.length');
    const report = await against(trace);
    expect(report).toMatchObject({
      isEqual: false,
      notWhole: ['shop:login#0'],
      difference: { what: 'result' },
    });
  });
});

describe('live', () => {
  test('[TAPE-6] a read-only run is repeated as a replay; changes are reported, except in fields that may change', async () => {
    const { trace } = await recorded(
      'const p = await mcp.shop.price({ item: "tea" }); return [p.item, Math.random()]',
    );
    const report = await against(trace, 'live');
    expect(asked).toEqual(['price', 'price']);
    expect(report).toMatchObject({
      isEqual: false,
      difference: {
        what: 'result',
        call: 'shop:price#0',
        path: 'price',
        recorded: price - 1,
        replayed: price,
      },
    });
    expect(await store.traces.get(report.replayTraceId!)).toMatchObject({ origin: 'replay', success: true });
    expect(await against(trace, 'live', ['price', 'at.time'])).toMatchObject({
      isEqual: true,
      difference: null,
    });
  });

  test('[TAPE-6] a tool that may write is refused before anything is called, whatever permissions.auto says', async () => {
    const code = 'await mcp.shop.price({ item: "tea" }); return await mcp.shop.order({ item: "tea" })';
    const { trace } = await recorded(code);
    await expect(against(trace, 'live')).rejects.toThrow('shop:order is not marked as read-only');
    expect(asked).toEqual(['price', 'order']);
  });
});

test('[TAPE-7] "pml replay" says whether a run is equal; if not, it exits with 1 and the first difference', async () => {
  const { trace } = await recorded('await mcp.shop.price({ item: "tea" }); return 1');
  const system = { openGateway: async () => openedGateway(gateway) };
  expect(await runCommand(['replay', trace.id], system)).toMatchObject({
    code: 0,
    out: 'Equal: 1 call and the result.\n',
  });
  const other = await altered(trace, { code: 'await mcp.shop.price({ item: "tea\\u001b[31m" }); return 1' });
  const told = await runCommand(['replay', other.id], system);
  expect(told.code).toBe(1);
  expect(told.out).toMatch(
    /^Not equal. First difference: shop:price#0 at item: different arguments\n {2}recorded {2}"tea"\n {2}replayed {2}"tea/,
  );
  expect(told.out).not.toContain('\u001b');
  const json = JSON.parse((await runCommand(['replay', other.id, '--json'], system)).out);
  expect(json).toMatchObject({
    equal: false,
    difference: { what: 'arguments', path: 'item' },
    not_whole: [],
    replay_trace_id: null,
  });
  const gone = await runCommand(['replay', 'none'], system);
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('pml trace ls') });
});
