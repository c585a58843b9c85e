import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { openTestGateway, type TestGateway } from '../support/open-test-gateway.ts';
import { tool } from '../support/test-gateway.ts';

const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});
const READS = { annotations: { readOnlyHint: true } };

let count = 0;
/** Gives something else each time, so that only a recording can repeat it. */
const DESK: MemoryServer = {
  name: 'desk',
  tools: [
    tool('find_user', ({ name }) => ({ id: `user-${String(name).toLowerCase()}-4711`, seen: ++count }), {
      ...needs('name'),
      ...READS,
    }),
    tool('list_tickets', ({ user }) => ({ tickets: [`ticket ${++count} of ${user}`] }), {
      ...needs('user'),
      ...READS,
    }),
    tool(
      'create_ticket',
      ({ user, title }) => ({ ticket: `${user}/${title}/${++count}` }),
      needs('user', 'title'),
    ),
    tool('secret', () => ({ password: `hunter-${++count}-hunter` }), READS),
  ],
};

let opened: TestGateway;
let gateway: Gateway;
let system: { openGateway: () => Promise<ReturnType<typeof openedGateway>> };

beforeAll(async () => {
  opened = await openTestGateway({ servers: [DESK], sandbox: createSandbox() });
  ({ gateway } = opened);
  system = { openGateway: async () => openedGateway(gateway) };
});
afterAll(() => gateway.close());

async function run(code: string, intent: string, sessionId: string | null = null) {
  const made = await gateway.executeCode({ code, intent }, { sessionId });
  expect(made.status).toBe('success');
  await gateway.settled();
  return made;
}

const TICKETS = (name: string, most: number) => `
const { id } = await mcp.desk.find_user({ name: '${name}' });
const { tickets } = await mcp.desk.list_tickets({ user: id });
return { name: '${name}', tickets: tickets.slice(0, ${most}), at: Date.now(), dice: Math.random() };`;

const found = async (slug: string) => await gateway.capabilities.show(slug);

test('[PROOF-1] a routine is active once it repeats what its own runs recorded, with clock and random numbers', async () => {
  await run(TICKETS('Ada', 5), 'list the tickets of a user');
  expect((await found('list_tickets')).state).toBe('candidate');
  expect((await found('list_tickets')).evidence.proof).toBeUndefined();
  await run(TICKETS('Grace', 3), 'list the tickets of a user');
  const { state, evidence } = await found('list_tickets');
  expect({ state, failure: evidence.proof?.failure }).toEqual({ state: 'active', failure: null });
  expect(evidence.proof?.cases).toHaveLength(2);
  expect(evidence.proof?.effects).toEqual({
    tools: ['desk:find_user', 'desk:list_tickets'],
    writes: [],
    hosts: [],
  });
});

test('[PROOF-1] a job of single calls is proven on these calls', async () => {
  const job = async (name: string, sessionId: string) => {
    const call = (named: string, args: JsonObject) =>
      gateway.executeTool({ tool: `desk:${named}`, arguments: args, intent: 'open a ticket' }, { sessionId });
    await call('find_user', { name });
    const user = `user-${name.toLowerCase()}-4711`;
    await call('create_ticket', { user, title: `The printer of ${name} is broken` });
    // What comes first in it begins another one.
    await call('find_user', { name });
    await gateway.settled();
  };
  for (const [i, name] of ['Ada', 'Ken', 'Grace'].entries()) await job(name, `job-${i}`);
  const learned = async () =>
    (await gateway.capabilities.list()).filter(({ toolsUsed }) =>
      toolsUsed.includes('desk:create_ticket' as never),
    );
  await expect
    .poll(async () => (await learned()).filter(({ state }) => state === 'active').length)
    .toBeGreaterThan(0);
  await gateway.settled();
  for (const { state, evidence } of (await learned()).filter((one) => one.state === 'active')) {
    expect({ state, failure: evidence.proof?.failure }).toEqual({ state: 'active', failure: null });
    expect(evidence.proof?.cases.length).toBeGreaterThan(0);
    expect(evidence.proof?.effects.writes).toContain('desk:create_ticket');
  }
});

test('[PROOF-2] every admitted routine is the same in each of eight replays', async () => {
  for (let times = 0; times < 8; times++) {
    const tests = (await gateway.capabilities.test(null)).filter(
      ({ capability }) => capability.state === 'active',
    );
    expect(tests.length).toBeGreaterThan(1);
    for (const { status, cases } of tests) {
      expect(status).toBe('passed');
      expect(cases.every(({ difference }) => difference === null)).toBe(true);
    }
  }
});

test('[PROOF-1] one that does not repeat its runs stays a candidate, and says why', async () => {
  const helper = (most: number) => `
const { tickets } = await mcp.desk.list_tickets({ user: 'user-${most}' });
return tickets.map((ticket) => ticket + '!').slice(0, ${most});`;
  for (let i = 0; i < 2; i++) await run(helper(7), 'shout the tickets');
  const { slug } = (await gateway.capabilities.list()).find(({ code }) => code.includes("'!'"))!;
  const calling = `const all = await capabilities.${slug}(); return { lengths: all.map((one) => one.length) };`;
  await run(calling, 'count what is shouted');
  const files = await gateway.capabilities.export(slug);
  await gateway.capabilities.forget(slug);
  // The same name, but another routine.
  await gateway.capabilities.import(files);
  await run(calling, 'count what is shouted');
  const stuck = (await gateway.capabilities.list()).find(({ code }) => code.includes('lengths'))!;
  expect(stuck.state).toBe('candidate');
  expect(stuck.evidence.proof?.failure).toMatch(/^it does not reproduce trace /);
  const { out } = await runCommand(['capability', 'show', stuck.slug], system);
  expect(out).toContain('not active: it does not reproduce trace');
  await gateway.capabilities.forget(stuck.slug);
});

test('[PROOF-3] a routine without a fully recorded run is admitted as before, and marked unproven', async () => {
  for (let i = 0; i < 2; i++)
    await run(
      'const { password } = await mcp.desk.secret({}); return password.split("-").map((word) => word.length);',
      'measure the secret',
    );
  const one = (await gateway.capabilities.list()).find(({ code }) => code.includes('password.split'))!;
  expect(one.state).toBe('active');
  expect(one.evidence.proof).toMatchObject({ cases: [], failure: null });
  const { out } = await runCommand(['capability', 'show', one.slug], system);
  expect(out).toContain('not proven: none of its runs was recorded in full');
});

describe('on the command line', () => {
  test('[PROOF-4] "pml capability test" runs the cases offline, and exits with 1 when one fails', async () => {
    const traces = await opened.store.traces.count();
    const before = count;
    const one = await runCommand(['capability', 'test', 'list_tickets'], system);
    expect(one).toMatchObject({ code: 0, out: '✓ list_tickets  2 of 2 cases equal\n' });
    const all = await runCommand(['capability', 'test', '--all', '--json'], system);
    expect(all.code).toBe(0);
    const report = JSON.parse(all.out);
    expect(report.passed).toBe(true);
    expect(report.capabilities.map(({ status }: { status: string }) => status)).toContain('no_cases');
    expect({ count, traces: await opened.store.traces.count() }).toEqual({ count: before, traces });
    expect((await runCommand(['capability', 'test'], system)).code).toBe(2);

    const capability = await found('list_tickets');
    const broken = {
      ...capability,
      code: capability.code.replace('tickets.slice', 'tickets.concat(tickets).slice'),
    };
    const test = async () => [await gateway.capabilities.test('list_tickets')].flat();
    expect((await test())[0]).toMatchObject({ status: 'passed' });
    await opened.store.capabilities.put({ ...broken, revision: capability.revision + 1 });
    const elsewhere = await openTestGateway({ servers: [DESK], store: opened.store });
    const told = await runCommand(['capability', 'test', 'list_tickets'], {
      openGateway: async () => openedGateway(elsewhere.gateway),
    });
    expect(told.code).toBe(1);
    expect(told.out).toMatch(
      /^✗ list_tickets {2}0 of 2 cases equal\n {4}trace .*\n {4}the program at tickets\[1\]: a different result/,
    );
    await opened.store.capabilities.put({ ...capability, revision: capability.revision + 2 });
    await elsewhere.gateway.close();
  });

  test('[PROOF-5] an exported routine carries its evidence; "pml capability verify" refuses a changed copy', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pml-verify-'));
    expect(await runCommand(['capability', 'export', 'list_tickets', dir], system)).toMatchObject({
      code: 0,
    });
    const good = await runCommand(['capability', 'verify', join(dir, 'capability.json')], {});
    expect(good).toMatchObject({ code: 0, err: '' });
    expect(good.out).toMatch(
      /^list_tickets is unchanged since its export; it reproduced 2 recorded runs\.\n {2}tools {3}desk:find_user, desk:list_tickets\n {2}writes {2}none\n/,
    );
    const { digest, evidence } = JSON.parse(
      (await runCommand(['capability', 'verify', dir, '--json'], {})).out,
    );
    expect(evidence.cases).toHaveLength(2);
    expect(Object.keys(evidence.definitions)).toEqual(['desk:find_user', 'desk:list_tickets']);
    expect((await runCommand(['capability', 'verify', dir, '--digest', digest], {})).code).toBe(0);
    expect((await runCommand(['capability', 'verify', dir, '--digest', 'f'.repeat(64)], {})).code).toBe(1);
    const manual = await readFile(join(dir, 'SKILL.md'), 'utf8');
    await writeFile(join(dir, 'SKILL.md'), manual.replace('list tickets', 'list  tickets'));
    const bad = await runCommand(['capability', 'verify', dir], {});
    expect(bad).toMatchObject({ code: 1, err: expect.stringContaining('SKILL.md was changed') });
    const taken = await runCommand(['capability', 'import', dir], system);
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('SKILL.md was changed') });
  });
});

test('[PROOF-6] after a change of a tool, the quarantine reason says whether recorded runs still work', async () => {
  const tickets = DESK.tools.find(({ definition }) => definition.name === 'list_tickets')!;
  Object.assign(tickets.definition, { description: 'the same in other words' });
  await gateway.restart('desk');
  await gateway.settled();
  const { out } = await runCommand(['capability', 'show', 'list_tickets'], system);
  expect(out).toMatch(
    /^list_tickets {2}\(quarantined: .*a different definition .*; its recorded runs work with the new definition/,
  );
  await gateway.capabilities.quarantine('list_tickets', null);
  Object.assign(tickets.definition, needs('user', 'team'));
  await gateway.restart('desk');
  await gateway.settled();
  const { evidence } = await found('list_tickets');
  expect(evidence.retested).toContain('desk:list_tickets no longer accepts what it was given');
});

test('[PROOF-1] a proof leaves no trace behind', async () => {
  const all = await opened.store.traces.list({ limit: 1_000 });
  expect(all.filter(({ origin }) => origin === 'replay')).toEqual([]);
});
