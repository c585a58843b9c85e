import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const ROWS = [
  { id: 1, name: 'Ada', active: true },
  { id: 2, name: 'Bob', active: false },
];
const CLOSED_READ = { annotations: { readOnlyHint: true, openWorldHint: false } };

function database(more = {}): MemoryServer {
  const inputSchema = { type: 'object', properties: { table: { type: 'string' } }, required: ['table'] };
  return {
    name: 'db',
    tools: [
      tool('rows', () => ROWS, { inputSchema, ...more }),
      tool('insert', ({ row }) => ({ inserted: row })),
    ],
  };
}

async function run(gateway: Gateway, code: string, intent = 'list the active people') {
  const made = await gateway.executeCode({ code, intent }, NOBODY);
  await gateway.settled();
  return made;
}

const ACTIVE = (table: string, limit: number) => `
const rows = await mcp.db.rows({ table: '${table}' });
return rows.filter((row) => row.active).map((row) => row.name).slice(0, ${limit});`;

test('[CODE-11] programs that differ only in post-processing are two capabilities', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  await run(gateway, ACTIVE('people', 5));
  await run(gateway, ACTIVE('people', 5).replace('.map((row) => row.name)', '.map((row) => row.id)'));
  const capabilities = await gateway.capabilities.list();
  expect(capabilities.map(({ state }) => state)).toEqual(['candidate', 'candidate']);
  expect(new Set(capabilities.map(({ codeHash }) => codeHash)).size).toBe(2);
});

test('[JOB-5] parallel calls in another order, with other literals, are the same job', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  await run(gateway, "return await Promise.all([mcp.db.rows({ table: 'a' }), mcp.db.insert({ row: 1 })]);");
  await run(gateway, "return await Promise.all([mcp.db.insert({ row: 2 }), mcp.db.rows({ table: 'b' })]);");
  const [capability, ...others] = await gateway.capabilities.list();
  expect(others).toEqual([]);
  expect(capability).toMatchObject({ state: 'active', uses: 2, successes: 2 });
  expect(capability!.code).toContain(
    '[mcp.db.rows({ table: args.table }), mcp.db.insert({ row: args.row })]',
  );
  expect(capability!.parametersSchema).toMatchObject({
    properties: { table: { default: 'a', examples: ['b'] }, row: { default: 1, examples: [2] } },
  });
});

test('[CODE-11][CODE-12] the same program with other literals is one capability, with parameters, active after two runs', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  await run(gateway, ACTIVE('people', 5));
  const [candidate] = await gateway.capabilities.list();
  expect(candidate).toMatchObject({ state: 'candidate', slug: 'list_active_people', uses: 1, successes: 1 });
  await run(gateway, ACTIVE('animals', 1));
  const [capability, ...others] = await gateway.capabilities.list();
  expect(others).toEqual([]);
  expect(capability).toMatchObject({ id: candidate!.id, state: 'active', uses: 2, successes: 2 });
  expect(capability!.parametersSchema).toMatchObject({
    properties: { table: { type: 'string', default: 'people', examples: ['animals'] } },
    required: expect.arrayContaining(['table']),
  });
  expect(capability!.code).toContain('{ table: args.table }');
  expect(capability!.outputSchema).toMatchObject({ type: 'array', items: { type: 'string' } });
  expect(capability!.toolsUsed).toContain('db:rows');

  const limit = Object.keys((capability!.parametersSchema as { properties: object }).properties).find(
    (name) => name !== 'table',
  );
  const called = await gateway.executeCapability(
    { capability: 'list_active_people', arguments: { table: 'plants', [limit ?? '']: 3 } },
    NOBODY,
  );
  expect(called).toMatchObject({ status: 'success', result: ['Ada'] });
  const wrong = await gateway.executeCapability(
    { capability: 'list_active_people', arguments: { table: 7, [limit ?? '']: 3 } },
    NOBODY,
  );
  expect(wrong.error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('table') });
  await gateway.settled();
  expect(await gateway.capabilities.show('list_active_people')).toMatchObject({ uses: 3, successes: 3 });
});

test('[CODE-12] [ORIGIN-2] a run that only reads is repeated once by PML, which admits it and does not count as a use', async () => {
  const { gateway, store } = await testGateway({ servers: [database(CLOSED_READ)] });
  await run(gateway, ACTIVE('people', 5));
  const [capability] = await gateway.capabilities.list();
  expect(capability).toMatchObject({ state: 'active', uses: 1, successes: 1 });
  const [replay, first] = await store.traces.list({ limit: 10 });
  expect(replay).toMatchObject({ origin: 'replay', sessionId: null, success: true, code: first!.code });
  expect(first).toMatchObject({ origin: 'agent' });
});

test('[CODE-12] code that failed, called nothing, or chose its tools at run time is not kept', async () => {
  const { gateway } = await testGateway({ servers: [database(CLOSED_READ)] });
  await run(gateway, 'return [1, 2, 3].map((n) => n * 2)');
  await run(gateway, 'const rows = await mcp.db.rows({ table: "a" }); return rows.nothing.here');
  await run(
    gateway,
    'const [name] = ["rows", "insert"].filter((n) => n.length > 0); return await mcp.db[name]({ table: "a" })',
  );
  expect(await gateway.capabilities.list()).toEqual([]);
});

test('[CODE-23] one that fails too often is quarantined, and only a person releases it', async () => {
  let isBroken = false;
  const flaky = tool('rows', () => {
    if (isBroken) throw new Error('the table is locked');
    return ROWS;
  });
  const { gateway } = await testGateway({ servers: [{ name: 'db', tools: [flaky] }] });
  await run(gateway, ACTIVE('people', 5));
  await run(gateway, ACTIVE('people', 5));
  isBroken = true;
  for (let i = 0; i < 4; i++) {
    await gateway.executeCapability({ capability: 'list_active_people', arguments: {} }, NOBODY);
    await gateway.settled();
  }
  const quarantined = await gateway.capabilities.show('list_active_people');
  expect(quarantined).toMatchObject({ state: 'quarantined', uses: 6, successes: 2 });
  expect(quarantined.evidence.quarantinedBecause).toMatch(/4 of its last 4 runs failed/);
  isBroken = false;
  const refused = await gateway.executeCapability(
    { capability: 'list_active_people', arguments: {} },
    NOBODY,
  );
  expect(refused.error).toMatchObject({ code: 'forbidden' });
  await gateway.capabilities.quarantine('list_active_people', null);
  const released = await gateway.executeCapability(
    { capability: 'list_active_people', arguments: {} },
    NOBODY,
  );
  expect(released).toMatchObject({ status: 'success', result: ['Ada'] });
});

test('[CODE-23] one whose tool changed its definition is quarantined', async () => {
  const server = database();
  const { gateway } = await testGateway({ servers: [server] });
  await run(gateway, ACTIVE('people', 5));
  await run(gateway, ACTIVE('people', 5));
  expect(await gateway.capabilities.show('list_active_people')).toMatchObject({ state: 'active' });
  Object.assign(server.tools[0]!.definition, { description: 'rows, and something new' });
  await gateway.restart('db');
  await gateway.settled();
  const changed = await gateway.capabilities.show('list_active_people');
  expect(changed.state).toBe('quarantined');
  expect(changed.evidence.quarantinedBecause).toContain('db:rows has a different definition');
});

test('[CODE-16] a signature shows the observed result of a tool, and says that it was observed', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  const [before] = await gateway.searchTools({ query: 'db:rows', limit: 1, signatures: true });
  expect(before?.signature).toContain('mcp.db.rows(args: { table: string }): Promise<unknown>');
  await run(gateway, 'return await mcp.db.rows({ table: "people" })');
  const [after] = await gateway.searchTools({ query: 'db:rows', limit: 1, signatures: true });
  expect(after?.signature).toMatch(
    /Promise<\{ id: number; name: string; active: boolean \}\[\]>|Promise<Array</,
  );
  expect(after?.signature).toMatch(/observed/);
});

test('[CAP-27] a candidate is renamed by what its runs have in common, and both names call it', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  await run(gateway, ACTIVE('people', 5), 'Please check the report');
  expect((await gateway.capabilities.list()).map(({ slug }) => slug)).toEqual(['check_report']);
  await run(gateway, ACTIVE('people', 5), 'summarise the report');
  await run(gateway, ACTIVE('people', 5), 'summarise the report of the team');
  const [capability] = await gateway.capabilities.list();
  expect(capability).toMatchObject({ slug: 'summarise_report', aliases: ['check_report'], state: 'active' });
  await run(gateway, ACTIVE('people', 5), 'archive the report');
  expect((await gateway.capabilities.show('check_report')).slug).toBe('summarise_report');
});

test('[CAP-28] an active capability is found by name, tools, code and other words, and by nothing unrelated', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  await run(gateway, ACTIVE('people', 5));
  expect(await gateway.searchCapabilities('list_active_people', 5)).toEqual([]);
  await run(gateway, ACTIVE('people', 5));
  for (const query of [
    'list_active_people',
    'db:rows',
    'people who are active',
    'rows.filter row.name slice',
  ])
    expect(
      (await gateway.searchCapabilities(query, 5)).map(({ slug }) => slug),
      query,
    ).toEqual(['list_active_people']);
  for (const query of ['weather forecast Paris', 'translate poem'])
    expect(await gateway.searchCapabilities(query, 5), query).toEqual([]);
});

test('[CAP-29] a search right after a run finds the capability that the run made active', async () => {
  // As patient as a machine may be slow: only what is waited for ends the wait.
  const patient = async (ms: number, signal?: AbortSignal) => {
    if (ms < 300) return void (await setTimeout(ms));
    await new Promise((_, reject) => signal!.addEventListener('abort', reject));
  };
  const { gateway } = await testGateway({ servers: [database()], sleep: patient });
  for (const limit of [5, 1])
    await gateway.executeCode({ code: ACTIVE('people', limit), intent: 'list the active people' }, NOBODY);
  const found = await gateway.searchCapabilities('list the active people', 1);
  expect(found.map(({ slug }) => slug)).toEqual(['list_active_people']);
});

test('[CODE-18] a renamed capability is still called by its former name, and can be exported as files', async () => {
  const here = await testGateway({ servers: [database()] });
  await run(here.gateway, ACTIVE('people', 5));
  await run(here.gateway, ACTIVE('animals', 5));
  await here.gateway.capabilities.rename('list_active_people', 'active_names');
  const byAlias = await here.gateway.executeCode(
    { code: 'return await capabilities.list_active_people({ table: "people" })' },
    NOBODY,
  );
  expect(byAlias).toMatchObject({ status: 'success', result: ['Ada'] });
  const files = await here.gateway.capabilities.export('active_names');
  expect(Object.keys(files)).toEqual(
    expect.arrayContaining(['SKILL.md', 'code.ts', 'schema.json', 'capability.json']),
  );

  const there = await testGateway({ servers: [database()] });
  const imported = await there.gateway.capabilities.import(files);
  expect(imported).toMatchObject({
    slug: 'active_names',
    aliases: expect.arrayContaining(['list_active_people']),
    state: 'active',
    uses: 0,
  });
  expect((await there.gateway.capabilities.export('active_names'))['code.ts']).toBe(files['code.ts']);
  const called = await there.gateway.executeCapability(
    { capability: 'active_names', arguments: { table: 'people' } },
    NOBODY,
  );
  expect(called).toMatchObject({ status: 'success', result: ['Ada'] });
  await expect(there.gateway.capabilities.import(files)).rejects.toMatchObject({ code: 'store_conflict' });
});

test('[CAP-22] capabilities that succeeded with the same intents are alternatives in the graph', async () => {
  const { gateway } = await testGateway({ servers: [database()] });
  const other = 'const rows = await mcp.db.rows({ table: "people" }); return rows.map((row) => row.name)';
  for (const code of [ACTIVE('people', 5), ACTIVE('people', 5), other, other]) await run(gateway, code);
  const { edges } = await gateway.graph.view();
  const [first, second] = await gateway.capabilities.list();
  const ends = [`capability:${first!.id}`, `capability:${second!.id}`].toSorted();
  expect(edges.filter(({ edge_type }) => edge_type === 'alternative')).toMatchObject([
    { source: ends[0], target: ends[1], edge_source: 'inferred' },
  ]);
});
