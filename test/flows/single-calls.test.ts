import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

/** However slow the machine is, no job ends because of the time between its calls. */
const PATIENT = { learning: { enabled: true } };
const GAP_MS = 1_000;
const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});
const PEOPLE = ['Ada Lovelace', 'Ken Thompson', 'Grace Hopper', 'Alan Kay', 'Barbara Liskov', 'Tony Hoare'];
const idOf = (name: unknown) => `user-${String(name).toLowerCase().replace(' ', '-')}-4711`;

function desk() {
  return {
    name: 'desk',
    tools: [
      tool('find_user', ({ name }) => ({ id: idOf(name) }), {
        description: 'Finds a user',
        ...needs('name'),
      }),
      tool('list_tickets', ({ user }) => ({ tickets: [`ticket of ${user}`] }), {
        description: 'Lists what a user has reported',
        ...needs('user'),
      }),
      tool('create_ticket', ({ user, title }) => ({ ticket: `${user}/${title}` }), {
        description: 'Reports something new for a user',
        ...needs('user', 'title'),
      }),
      tool('ring_bell', () => 'rang', { description: 'Rings the bell' }),
    ],
  };
}

type Opened = Awaited<ReturnType<typeof testGateway>>;

/** The three calls of a job, one at a time. */
function job({ gateway }: Opened, name: string, sessionId: string, caller: JsonObject = {}) {
  const intent = 'open a ticket about the broken printer';
  const call = (tool: string, args: JsonObject) =>
    gateway.executeTool({ tool, arguments: args, intent }, { sessionId, ...caller });
  return [
    () => call('desk:find_user', { name }),
    () => call('desk:list_tickets', { user: idOf(name) }),
    () => call('desk:create_ticket', { user: idOf(name), title: `The printer of ${name} is broken` }),
  ];
}

/** A call of another kind ends the job of its session. */
async function over({ gateway }: Opened, ...sessions: readonly string[]) {
  for (const sessionId of sessions)
    await gateway.executeTool(
      { tool: 'desk:ring_bell', arguments: {}, intent: 'ring the bell' },
      { sessionId },
    );
  await gateway.settled();
}

/** Until no further call of a job is waited for. */
async function passed({ gateway }: Opened) {
  await gateway.settled();
  await setTimeout(GAP_MS + 50);
  await gateway.settled();
}

async function edgesOf({ gateway }: Opened) {
  const { edges } = await gateway.graph.view();
  return edges.map(({ source, target, edge_type, observed_count }) =>
    [edge_type, source, target, observed_count].join(' '),
  );
}

const EDGES = (n: number) => [
  `sequence desk:find_user desk:list_tickets ${n}`,
  `sequence desk:list_tickets desk:create_ticket ${n}`,
  `provides desk:find_user desk:list_tickets ${n}`,
  `provides desk:find_user desk:create_ticket ${n}`,
];

async function expectLearned(opened: Opened, jobs: number) {
  const { gateway } = opened;
  const edges = await edgesOf(opened);
  expect(edges).toEqual(expect.arrayContaining(EDGES(jobs)));
  expect(edges.filter((edge) => edge.startsWith('sequence'))).toHaveLength(2);
  const intent = 'open a ticket about the broken printer';
  expect((await gateway.predictNext(intent, ['desk:find_user']))[0]?.node).toBe('desk:list_tickets');
  const after = await gateway.predictNext(intent, ['desk:find_user', 'desk:list_tickets']);
  expect(after[0]?.node).toBe('desk:create_ticket');
  const { plan } = await gateway.suggest('a printer is broken, open a ticket about it');
  const learned = await gateway.capabilities.list();
  const covering = learned.find(({ state }) => state === 'active');
  const planned = plan.tasks.flatMap(({ tool: id, capability }): readonly (string | undefined)[] =>
    capability === undefined ? [id] : (covering?.toolsUsed ?? []),
  );
  expect(planned).toEqual(['desk:find_user', 'desk:list_tickets', 'desk:create_ticket']);
  expect(covering?.code).toContain('user: findUserResult.id');
  expect(covering?.parametersSchema).toMatchObject({ properties: expect.any(Object) });
  return covering!;
}

test('[JOB-1] calls made one at a time for an intent are learned as one job', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  for (let i = 0; i < 8; i++) {
    for (const call of job(opened, PEOPLE[i % PEOPLE.length]!, `session-${i}`)) await call();
    await over(opened, `session-${i}`);
  }
  const { slug } = await expectLearned(opened, 8);
  const parameters = await opened.gateway.capabilities.show(slug);
  const names = Object.keys((parameters.parametersSchema as { properties: object }).properties);
  expect(names).toHaveLength(2);
});

test('[JOB-1] two interleaved sessions are two jobs', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  for (let i = 0; i < 4; i++) {
    const mine = job(opened, PEOPLE[i]!, `mine-${i}`);
    const theirs = job(opened, PEOPLE[i + 1]!, `theirs-${i}`);
    for (const [n, call] of mine.entries()) {
      await call();
      await theirs[n]!();
    }
    await over(opened, `mine-${i}`, `theirs-${i}`);
  }
  await expectLearned(opened, 8);
});

test('[JOB-1] the same job again in one session is another job', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  for (let i = 0; i < 8; i++)
    for (const call of job(opened, PEOPLE[i % PEOPLE.length]!, 'session')) await call();
  await opened.gateway.settled();
  await expectLearned(opened, 8);
});

test('[JOB-2] without an intent, time gaps and values decide', async () => {
  const opened = await testGateway({
    servers: [desk()],
    settings: { learning: { enabled: true, segmentGapMs: GAP_MS } },
  });
  const call = (tool: string, args: JsonObject) =>
    opened.gateway.executeTool({ tool, arguments: args }, { sessionId: 'silent' });
  await call('desk:find_user', { name: 'Ada Lovelace' });
  await call('desk:list_tickets', { user: idOf('Ada Lovelace') });
  await passed(opened);
  // Late, and yet with a value of the job.
  await call('desk:create_ticket', { user: idOf('Ada Lovelace'), title: 'Late' });
  await passed(opened);
  await call('desk:ring_bell', {});
  await passed(opened);
  expect(await edgesOf(opened)).toEqual(
    expect.arrayContaining([
      'sequence desk:find_user desk:list_tickets 1',
      'sequence desk:list_tickets desk:create_ticket 1',
      'provides desk:find_user desk:create_ticket 1',
    ]),
  );
  expect((await edgesOf(opened)).join()).not.toContain('ring_bell');
});

test('[JOB-3] rebuilding the graph gives the same jobs', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  for (let i = 0; i < 3; i++) for (const call of job(opened, PEOPLE[i]!, 'session')) await call();
  await opened.gateway.settled();
  const before = await opened.gateway.graph.view();
  await opened.gateway.graph.rebuild();
  expect(await opened.gateway.graph.view()).toEqual(before);

  // Traces that came from elsewhere are jobs as well.
  const { traces } = await opened.store.traces.scan(0, 100);
  const store = createMemoryStore();
  await store.traces.appendAll(traces);
  const other = await testGateway({ servers: [desk()], settings: PATIENT, store });
  expect((await edgesOf(other)).sort()).toEqual((await edgesOf(opened)).sort());
  const [next] = await other.gateway.predictNext('open a ticket', ['desk:list_tickets']);
  expect(next).toMatchObject({ node: 'desk:create_ticket', score: 1 });
});

test('[JOB-4] another user’s private calls are never part of a job', async () => {
  const opened = await testGateway({
    servers: [desk()],
    settings: { ...PATIENT, sharing: { traces: 'private' } },
  });
  const as = (user: string) => ({ who: { user, name: user, role: 'agent', keyId: null } });
  const ada = job(opened, PEOPLE[0]!, 'one session', as('ada'));
  const ken = job(opened, PEOPLE[0]!, 'one session', as('ken'));
  await ada[0]!();
  await ken[1]!();
  await ada[2]!();
  await opened.gateway.settled();
  expect((await edgesOf(opened)).filter((edge) => !edge.startsWith('contains'))).toEqual([]);
  expect(await opened.gateway.capabilities.list()).toEqual([]);
});

test('[NEXT-9] capabilities and tools are accepted under all their names, and unknown names are refused', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  const { gateway } = opened;
  const intent = 'open a ticket about the broken printer and ring the bell';
  const code = `const user = await mcp.desk.find_user({ name: 'Ada Lovelace' });
return await mcp.desk.create_ticket({ user: user.id, title: 'Broken' });`;
  for (let i = 0; i < 2; i++)
    await gateway.executeCode({ code, intent: 'report a printer' }, { sessionId: null });
  await opened.gateway.settled();
  const { slug, id } = (await gateway.capabilities.list())[0]!;
  for (let i = 0; i < 3; i++) {
    const caller = { sessionId: `bell-${i}` };
    await gateway.executeCapability({ capability: slug, arguments: {}, intent }, caller);
    await gateway.executeTool({ tool: 'desk:ring_bell', arguments: {}, intent }, caller);
  }
  await opened.gateway.settled();
  for (const name of [slug, `capabilities.${slug}`, `capability:${id}`]) {
    const [first] = await gateway.predictNext(intent, [name]);
    expect(first, name).toMatchObject({ node: 'desk:ring_bell', score: 1 });
  }
  const [first] = await gateway.predictNext(intent, ['desk__find_user']);
  expect(first?.node).toBe('desk:create_ticket');
  await expect(gateway.predictNext(intent, ['desk:find_usr'])).rejects.toMatchObject({
    code: 'not_found',
    hint: 'Did you mean desk:find_user?',
  });
});

test('[NEXT-10] a single call does not show that nothing follows it', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  for (let i = 0; i < 4; i++)
    await opened.gateway.executeTool(
      { tool: 'desk:ring_bell', arguments: {}, intent: 'ring the bell' },
      { sessionId: null },
    );
  await opened.gateway.settled();
  const next = await opened.gateway.predictNext('ring the bell', ['desk:ring_bell']);
  expect(next.map(({ node }) => node)).not.toContain('done');
});

test('[SUGG-2] single calls settle a suggestion once their job is over', async () => {
  const opened = await testGateway({ servers: [desk()], settings: PATIENT });
  const { gateway } = opened;
  const ring = (sessionId: string) =>
    gateway.executeTool({ tool: 'desk:ring_bell', arguments: {}, intent: 'ring the bell' }, { sessionId });
  for (const call of job(opened, PEOPLE[0]!, 'before')) await call();
  await ring('before');
  await gateway.settled();
  const intent = 'open a ticket about the broken printer';
  const { id } = await gateway.suggest(intent, { sessionId: 'asking' });
  const outcome = async () => (await opened.store.suggestions.get(id!))?.outcome ?? null;
  const [first, ...rest] = job(opened, PEOPLE[1]!, 'asking');
  await first!();
  await gateway.settled();
  expect(await outcome()).toBeNull();
  for (const call of rest) await call();
  await gateway.settled();
  expect(await outcome()).toBeNull();
  await ring('asking');
  await gateway.settled();
  expect(await outcome()).toMatchObject({ verdict: 'accepted', left: [] });
});
