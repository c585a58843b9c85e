import { expect, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createMemoryTeam } from '../memory/team.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const NOBODY = { sessionId: null };
/** For what takes a training. */

const SERVERS = ['north', 'east', 'south'].map((name) => ({
  name,
  tools: [
    ...['one', 'two', 'three', 'four'].map((nth) => tool(`handle_${nth}`, () => ({ done: nth }))),
    tool('remove', () => 'gone', { annotations: { destructiveHint: true } }),
  ],
}));

/** Gateways that share a memory, as far as one process can hold them. */
async function teamOf(size: number) {
  const team = createMemoryTeam(createMemoryStore());
  const members = [];
  for (let nth = 0; nth < size; nth++) {
    const { store, changes, trainerLock, leave } = team.join();
    const settings = settingsFor([]);
    const { gateway } = await testGateway({
      servers: SERVERS,
      store,
      changes,
      trainerLock,
      sandbox: createSandbox(),
      settings: {
        store: { ...settings.store, url: 'postgres://shared' },
        permissions: { ...settings.permissions, approvalWaitMs: 20_000 },
      },
    });
    members.push({ gateway, store, trainerLock, leave });
  }
  return members;
}

const WORK = [
  { tool: 'north:handle_three', says: 'water the roses and the ferns on the balcony' },
  { tool: 'east:handle_one', says: 'send the weekly invoice to the accountant' },
  { tool: 'south:handle_four', says: 'tune the old piano before the concert' },
] as const;

/** As single calls, or as programs: only these are whole jobs. */
async function work(gateway: Gateway, from: number, to: number, isWhole = false): Promise<void> {
  for (let nth = from; nth < to; nth++) {
    const { tool: id, says } = WORK[nth % WORK.length]!;
    const intent = `${says}, week ${nth}`;
    const code = `return await mcp.${id.replace(':', '.')}({});`;
    const run = isWhole
      ? gateway.executeCode({ code, intent }, NOBODY)
      : gateway.executeTool({ tool: id, arguments: {}, intent }, NOBODY);
    expect(await run).toMatchObject({ status: 'success' });
  }
}

const PROGRAM = 'const a = await mcp.north.handle_one({}); return [a, await mcp.east.handle_two({})];';

test('[TEAM-5] the graphs of all gateways follow the runs of each, and a rebuild by any of them', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  await a.gateway.executeCode({ code: PROGRAM }, NOBODY);
  await b.gateway.executeCode({ code: PROGRAM }, NOBODY);
  await a.gateway.executeCode({ code: PROGRAM }, NOBODY);
  const edgesOf = async ({ gateway }: Member) =>
    (await gateway.graph.view()).edges
      .filter(({ source, target }) => source === 'north:handle_one' && target === 'east:handle_two')
      .map(({ edge_type, observed_count }) => [edge_type, observed_count]);
  await expect.poll(() => edgesOf(a)).toContainEqual(['sequence', 3]);
  await expect.poll(() => edgesOf(b)).toContainEqual(['sequence', 3]);

  const [first] = (await a.store.traces.scan(0, 1)).traces;
  await a.store.traces.remove([first!.id]);
  await a.gateway.graph.rebuild();
  await expect.poll(() => edgesOf(b)).toContainEqual(['sequence', 2]);
  expect(await edgesOf(b)).toEqual(await edgesOf(a));
  await b.gateway.executeCode({ code: PROGRAM }, NOBODY);
  await expect.poll(() => edgesOf(a)).toContainEqual(['sequence', 3]);
});

type Member = Awaited<ReturnType<typeof teamOf>>[number];

test('[TEAM-6] capabilities learned, renamed, quarantined and forgotten by one are so for all, and no count is lost', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  await a.gateway.executeCode({ code: PROGRAM, intent: 'review the invoice' }, NOBODY);
  await b.gateway.executeCode({ code: PROGRAM, intent: 'review the invoice' }, NOBODY);
  const slugs = async ({ gateway }: Member) =>
    (await gateway.capabilities.list()).map(({ slug, state }) => [slug, state]);
  await expect.poll(() => slugs(a)).toEqual([['review_invoice', 'active']]);
  await expect.poll(() => slugs(b)).toEqual([['review_invoice', 'active']]);

  // Both count uses while one renames it: neither takes the other's word back.
  const use = ({ gateway }: Member) =>
    Promise.all(
      Array.from({ length: 10 }, () =>
        gateway.executeCapability({ capability: 'review_invoice', arguments: {} }, NOBODY),
      ),
    );
  await Promise.all([use(a), use(b), b.gateway.capabilities.rename('review_invoice', 'handle_all')]);
  await Promise.all([a.gateway.settled(), b.gateway.settled()]);
  await expect.poll(() => slugs(a)).toEqual([['handle_all', 'active']]);
  expect((await a.store.capabilities.find('handle_all'))?.uses).toBe(22);

  await b.gateway.capabilities.quarantine('handle_all', 'looks odd');
  await expect.poll(() => slugs(a)).toEqual([['handle_all', 'quarantined']]);
  await a.gateway.capabilities.forget('handle_all');
  await expect.poll(() => slugs(b)).toEqual([]);
});

test('[TEAM-7] one gateway trains on the runs of all; the others use its model, and another takes over', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  expect([a.trainerLock.isHeld(), b.trainerLock.isHeld()]).toEqual([true, false]);
  await work(b.gateway, 0, 41);
  await b.gateway.settled();
  const report = ({ gateway }: Member) => gateway.learning.report();
  await expect.poll(async () => (await report(a)).history.map(({ runs }) => runs)).toEqual([40, 20]);
  await expect.poll(async () => (await report(b)).gate.open).toBe(true);
  expect(await report(b)).toMatchObject({ runs: 41, model: { runs: 40 } });
  const [first] = await b.gateway.searchTools({ query: `${WORK[0].says}, week 99` });
  expect(first).toMatchObject({ tool: { id: WORK[0].tool }, parts: { learned: expect.any(Number) } });
  await expect(b.gateway.learning.train()).rejects.toMatchObject({ code: 'not_available' });

  await b.gateway.learning.rollBack();
  await expect.poll(async () => (await report(a)).model?.runs).toBe(20);
  a.leave();
  expect(b.trainerLock.isHeld()).toBe(true);
  expect((await b.gateway.learning.train()).model?.runs).toBe(41);
});

test('[TEAM-14] the training gateway learns plans and next steps; the others use what it stored', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  await work(b.gateway, 0, 41, true);
  const keptBy = async (what: string) => (await b.store.rankerParams.list(`${what} by words/256`, 9)).length;
  await expect.poll(() => keptBy('plans')).toBe(1);
  await expect.poll(() => keptBy('next steps')).toBe(1);
  const reasons = async ({ gateway }: Member) =>
    (await gateway.predictNext('please water the roses and the ferns on the balcony', [WORK[0].tool])).map(
      ({ node, reason }) => [node, reason],
    );
  await expect
    .poll(async () => (await reasons(b))[0])
    .toEqual(['done', expect.stringMatching(/ended after it/)]);
  expect((await reasons(a))[0]).toEqual((await reasons(b))[0]);

  a.leave();
  expect(b.trainerLock.isHeld()).toBe(true);
  await work(b.gateway, 41, 62, true);
  const learnedFrom = async () =>
    Number((await b.store.rankerParams.list('next steps by words/256', 1))[0]?.metrics.runs);
  await expect.poll(learnedFrom).toBeGreaterThan(60);
});

test('[TEAM-8] a call that waits for a person continues when they answer at another gateway, and all are notified', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  const heard: string[] = [];
  b.gateway.events.follow(({ event }) => heard.push(event.type));
  const call = a.gateway.executeTool({ tool: 'north:remove', arguments: {} }, NOBODY);
  await expect.poll(() => heard).toContain('approval_requested');
  const [asked] = await b.store.approvals.list({ state: 'pending' });
  const settled: string[] = [];
  a.gateway.events.follow(({ event }) => settled.push(event.type));
  await b.gateway.settleApproval(asked!.runId, 'approved', 'ana');
  expect(await call).toMatchObject({ status: 'success' });
  await expect.poll(() => settled).toContain('approval_settled');
});

test('[TEAM-9] tools that one gateway lists are known to the others', async () => {
  const [a, b] = (await teamOf(2)) as [Member, Member];
  const listed = await b.store.tools.get('north:handle_one' as never);
  const described = { ...listed!, description: 'cleans windows', definitionHash: 'other' };
  await b.store.tools.put([described]);
  await expect
    .poll(async () => (await a.gateway.searchTools({ query: 'cleans windows' }))[0]?.tool.description)
    .toBe('cleans windows');
});
