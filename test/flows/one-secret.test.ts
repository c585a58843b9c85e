import { expect, onTestFinished, test } from 'vitest';
import { dump } from '../../src/adapters/store/backup/dump.ts';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { Settings } from '../../src/engine/ports.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { planOf } from '../support/workflow-plan.ts';

const READS = { annotations: { readOnlyHint: true } };
const CRM = {
  name: 'crm',
  tools: [
    tool('login', () => ({ session: { access_token: 'Zebra-Lemon-4711' } })),
    tool('find', ({ query }) => ({ found: `for ${query}` })),
    tool('fail', ({ query }) => {
      throw new Error(`Nothing for ${query}`);
    }),
    tool('ask', () => 'asked'),
  ],
};
const BANK = {
  name: 'bank',
  tools: [
    tool('balance', ({ iban }) => ({ owner: 'Wilhelmina Quartz', iban, amount: 918273645 }), READS),
    tool('refuse', ({ iban }) => {
      throw new Error(`Account ${iban} of Wilhelmina Quartz is closed`);
    }),
  ],
};

async function office(settings: Partial<Settings> = {}) {
  const store = await openPgliteStore(await temporaryDir());
  onTestFinished(() => store.close());
  const { gateway } = await testGateway({ servers: [CRM, BANK], store, settings });
  /** All that is stored, as a backup has it, and all that watchers can still be told. */
  const everything = async () => {
    await gateway.settled();
    const lines: string[] = [];
    for await (const line of dump(store.db)) lines.push(JSON.stringify(line));
    return `${lines.join('\n')}\n${JSON.stringify(gateway.events.since(0))}`;
  };
  return { gateway, store, everything };
}

/** Where something stands that must not, with what is around it. */
function findings(text: string, pattern: RegExp): string[] {
  return text
    .matchAll(new RegExp(`.{0,120}(?:${pattern.source}).{0,40}`, 'g'))
    .map(([found]) => found)
    .toArray();
}

test('[RED-8] a value that was secret once is secret in all of its run, including earlier parts', async () => {
  const { gateway, everything } = await office();
  const code = `
    const { session } = await mcp.crm.login({});
    const key = session.access_token;
    console.log('logged in with', key);
    await mcp.crm.find({ query: 'Zebra-Lemon-4711' });
    await mcp.crm.find({ query: 'WmVicmEtTGVtb24tNDcxMQ==' });
    switch (key) { case 'Zebra-Lemon-4711': await mcp.crm.find({ query: 'x' + key }); break; default: }
    try { await mcp.crm.fail({ query: key }); } catch (error) { console.error(error.message); }
    throw new Error('stopped with ' + key);`;
  const run = await gateway.executeCode({ code, intent: 'try Zebra-Lemon-4711 on the crm' }, NOBODY);
  expect(run.error?.message).toContain('Zebra-Lemon-4711');
  const stored = await everything();
  expect(stored).toContain('crm:find');
  expect(findings(stored, /Zebra-Lemon|WmVicmEtTGVtb24t|plYnJhLUxlbW9uLT|aZWJyYS1MZW1vbi/)).toEqual([]);
});

test('[RED-8] the same holds in a workflow and in a single call', async () => {
  const { gateway, everything } = await office();
  const plan = planOf([
    { id: 'in', tool: 'crm:login', arguments: {} },
    { id: 'look', tool: 'crm:find', arguments: { query: '${in.session.access_token}' }, dependsOn: ['in'] },
    { id: 'lost', tool: 'crm:fail', arguments: { query: 'Zebra-Lemon-4711' }, dependsOn: ['look'] },
  ]);
  await gateway.executeWorkflow(plan, 'with Zebra-Lemon-4711', NOBODY);
  const call = {
    tool: 'crm:find',
    arguments: { query: 'about Kiwi-Papaya-4712', password: 'Kiwi-Papaya-4712' },
  };
  await gateway.executeTool({ ...call, intent: 'Kiwi-Papaya-4712' }, NOBODY);
  const stored = await everything();
  expect(stored).toContain('crm:login');
  expect(findings(stored, /Zebra-Lemon|Kiwi-Papaya/)).toEqual([]);
});

const PRIVATE = /Wilhelmina|Quartz|DE4471100|918273645/;

test.each(['none', 'metadata'] as const)(
  '[RED-9] a tool recorded as %s leaves nothing behind: not in workflows, code, pauses or derived data',
  async (keep) => {
    const { gateway, store, everything } = await office({
      record: [
        { tools: 'bank:*', keep },
        { tools: '*', keep: 'full' },
      ],
      permissions: {
        allow: [],
        ask: ['crm:ask'],
        deny: [],
        default: 'allow',
        profile: 'balanced',
        approvalWaitMs: 10,
        clientsDecide: false,
        auto: [],
      },
    });
    const tasks = [
      { id: 'b', tool: 'bank:balance', arguments: { iban: '${iban}' } },
      { id: 'c', tool: 'crm:find', arguments: { query: 'of ${b.owner}' }, dependsOn: ['b'] },
      { id: 'd', code: "return (await mcp.bank.balance({ iban: 'DE4471100' })).owner.split(' ')[1]" },
      { id: 'e', tool: 'bank:refuse', arguments: { iban: 'DE4471100' } },
    ];
    const done = await gateway.executeWorkflow(
      planOf(tasks, { arguments: { iban: 'DE4471100' } }),
      'sum',
      NOBODY,
    );
    expect(done.results).toMatchObject({ b: { result: { amount: 918273645 } }, d: { result: 'Quartz' } });

    const code = `
      const { owner, amount } = await mcp.bank.balance({ iban: 'DE4471100' });
      console.log(owner.split(' ')[1], amount);
      switch (owner.toUpperCase()) { case 'X': break; default: await mcp.crm.find({ query: 'a' }); }
      return { first: owner.slice(0, 10), half: amount };`;
    expect(await gateway.executeCode({ code }, NOBODY)).toMatchObject({
      status: 'success',
      result: { first: 'Wilhelmina' },
    });
    const paused = await gateway.executeCode(
      { code: `${code.replace('return', 'await mcp.crm.ask({}); return')}` },
      NOBODY,
    );
    expect(paused.status).toBe('approval_required');
    await gateway.executeTool({ tool: 'bank:refuse', arguments: { iban: 'DE4471100' } }, NOBODY);
    expect(findings(await everything(), PRIVATE)).toEqual([]);

    // What is not stored cannot be resumed, and says so.
    await gateway.settleApproval(paused.runId, 'approved', 'ada');
    await expect(gateway.continueRun(paused.runId, 'resume', NOBODY)).rejects.toMatchObject({
      message: expect.stringContaining('not stored'),
    });
    expect((await store.runs.get(paused.runId))?.status).toBe('paused');
  },
);

test('[CODE-20] a run can be given less time than the sandbox allows, not more', async () => {
  const wait = tool('wait', () => new Promise((resolve) => setTimeout(() => resolve(1), 5_000).unref()));
  const other = await testGateway({
    servers: [{ name: 'slow', tools: [wait] }],
    settings: { sandbox: { ...settingsFor([]).sandbox, wallMs: 300 } },
  });
  expect(
    await other.gateway.executeCode({ code: 'return await mcp.slow.wait({})', timeoutMs: 3_600_000 }, NOBODY),
  ).toMatchObject({ status: 'error', error: { code: 'code_limit' } });
});

test('[RED-10] the fields of a private result are visible to no other user', async () => {
  const who: Principal = { name: 'ann', user: 'ann', role: 'agent', keyId: 'k1' };
  const server = { name: 'hr', tools: [tool('look', () => ({ 'wilhelmina.quartz': 1 }), READS)] };
  const { gateway, store } = await testGateway({
    servers: [server],
    settings: { sharing: { traces: 'private' } },
  });
  await gateway.executeTool({ tool: 'hr:look', arguments: {} }, { sessionId: null, who });
  await gateway.settled();
  expect(JSON.stringify([...(await store.tools.observedOutputs())])).not.toContain('quartz');
});
