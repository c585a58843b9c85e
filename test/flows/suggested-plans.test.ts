import { expect, onTestFinished, test } from 'vitest';
import { createMemoryTrainer } from '../memory/trainer.ts';
import { readyCapability } from '../support/samples.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { planOf } from '../support/workflow-plan.ts';

const INTENT = 'list the folder of the quarterly reports, read each of them and write a summary';
const needs = (...names: string[]) => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  },
});
const REPORTS = ['northern-harvest-2026.md', 'southern-harvest-2026.md', 'eastern-harvest-2026.md'];

/** A disk whose tools give values that can be told apart, and tools that have nothing to do with it. */
function disk() {
  const written: unknown[] = [];
  const tools = [
    tool('list', () => ({ entries: REPORTS.map((name) => ({ name, kind: 'report' })) }), {
      description: 'Lists what a folder holds',
      ...needs('folder'),
    }),
    tool('read', ({ path }) => ({ text: `What is said in ${path} and nowhere else` }), {
      description: 'Reads a text file',
      ...needs('path'),
    }),
    tool('write', (args) => written.push(args), {
      description: 'Writes a text file',
      ...needs('target', 'content'),
    }),
  ];
  const others = ['paint', 'sing', 'cook', 'dance'].map((name) =>
    tool(name, () => name, { description: `Can ${name}`, ...needs('how') }),
  );
  return {
    written,
    servers: [
      { name: 'disk', tools },
      { name: 'fun', tools: others },
    ],
  };
}

const DANCE = `const song = await mcp.fun.sing({ how: 'loud' });
return await mcp.fun.dance({ how: song });`;

const WORK = planOf([
  { id: 'a', tool: 'disk:list', arguments: { folder: 'reports' } },
  {
    id: 'b',
    tool: 'disk:read',
    arguments: { path: '${item.name}' },
    forEach: '${a.entries}',
    dependsOn: ['a'],
  },
  {
    id: 'c',
    tool: 'disk:write',
    arguments: { target: 'summary.md', content: '${b[0].text}' },
    dependsOn: ['b'],
  },
]);

test('[PLAN-13] a run for an intent is suggested again: its tools, its order, its values', async () => {
  const { servers, written } = disk();
  const { gateway } = await testGateway({ servers });
  const before = await gateway.suggest(INTENT);
  expect(before.plan.tasks.every(({ dependsOn }) => dependsOn.length === 0)).toBe(true);

  expect(await gateway.executeWorkflow(WORK, INTENT, NOBODY)).toMatchObject({ status: 'success' });
  await gateway.settled();
  const { plan, confidence, edges } = await gateway.suggest(INTENT);
  expect(plan.tasks.map((task) => [task.id, task.tool, task.dependsOn])).toEqual([
    ['t1', 'disk:list', []],
    ['t2', 'disk:read', ['t1']],
    ['t3', 'disk:write', expect.arrayContaining(['t2'])],
  ]);
  expect(plan.tasks[1]).toMatchObject({ forEach: '${t1.entries}', arguments: { path: '${item.name}' } });
  // The intent says which folder; one run has not shown that the target is always the same.
  expect(plan.tasks[0]).toMatchObject({ arguments: { folder: 'reports' } });
  expect(plan.inputs).toMatchObject([{ name: 'target', schema: { default: 'summary.md' } }]);
  expect(plan.tasks[0]!.reason).toContain('past run');
  expect(edges.every(({ reason }) => reason.length > 0)).toBe(true);
  expect(confidence).toBeGreaterThan(before.confidence);

  const values = Object.fromEntries(plan.inputs.map(({ name }) => [name, 'anything']));
  const again = await gateway.executeWorkflow({ ...plan, arguments: values }, INTENT, NOBODY);
  expect(again.status).toBe('success');
  expect(written.length).toBeGreaterThan(1);
});

test('[PLAN-17] where no past run is near, search suggests', async () => {
  const { servers } = disk();
  const { gateway } = await testGateway({ servers });
  await gateway.executeWorkflow(WORK, INTENT, NOBODY);
  await gateway.settled();
  const { plan } = await gateway.suggest('paint a picture');
  expect(plan.tasks[0]).toMatchObject({ tool: 'fun:paint', arguments: { how: '${how}' } });
  expect(await gateway.suggest('   ')).toMatchObject({ plan: { tasks: [], inputs: [] }, confidence: 0 });
});

test('[PLAN-14] a plan that was edited before it ran is suggested as it ran; failures lower its confidence', async () => {
  const { servers } = disk();
  const { gateway } = await testGateway({ servers });
  await gateway.executeWorkflow(WORK, INTENT, NOBODY);
  const edited = planOf([
    { id: 'a', tool: 'disk:list', arguments: { folder: 'reports' } },
    {
      id: 'c',
      tool: 'disk:write',
      arguments: { target: 'x.md', content: '${a.entries[1].name}' },
      dependsOn: ['a'],
    },
  ]);
  await gateway.executeWorkflow(edited, INTENT, NOBODY);
  await gateway.settled();
  const suggested = await gateway.suggest(INTENT);
  expect(suggested.plan.tasks.map(({ tool }) => tool)).toEqual(['disk:list', 'disk:write']);

  const missing = planOf([
    { id: 'a', tool: 'disk:list', arguments: { folder: 'reports' } },
    { id: 'b', tool: 'disk:read', arguments: { path: '${a.nothing.there}' }, dependsOn: ['a'] },
  ]);
  expect(await gateway.executeWorkflow(missing, INTENT, NOBODY)).toMatchObject({ status: 'error' });
  await gateway.settled();
  const after = await gateway.suggest(INTENT);
  expect(after.plan.tasks.map(({ tool }) => tool)).toEqual(['disk:list', 'disk:write']);
  expect(after.confidence).toBeLessThan(suggested.confidence);
});

test('[PLAN-13] runs that failed are not suggested again', async () => {
  const { servers } = disk();
  const broken = tool('list', () => ({}), { description: 'Lists what a folder holds', ...needs('folder') });
  const failing = { ...broken, call: async () => ({ content: [], isError: true }) };
  const { gateway } = await testGateway({ servers: [{ name: 'disk', tools: [failing] }, servers[1]!] });
  const plan = planOf([{ id: 'a', tool: 'disk:list', arguments: { folder: 'x' } }]);
  await gateway.executeWorkflow(plan, 'dance', NOBODY);
  await gateway.settled();
  expect((await gateway.suggest('dance')).plan.tasks[0]).toMatchObject({ tool: 'fun:dance' });
});

test('[PLAN-9] a more reliable capability is suggested in place of its tools', async () => {
  const { servers } = disk();
  const capability = readyCapability({
    slug: 'summarise_reports',
    toolsUsed: ['disk:list', 'disk:read', 'disk:write'] as never,
    uses: 40,
    successes: 40,
  });
  const { gateway } = await testGateway({ servers, capabilities: [capability] });
  await gateway.executeWorkflow(WORK, INTENT, NOBODY);
  await gateway.settled();
  const { plan } = await gateway.suggest(INTENT);
  expect(plan.tasks).toMatchObject([{ id: 't1', capability: 'summarise_reports', dependsOn: [] }]);
});

test('[PLAN-19] a run is known at once, even while a training does not end', async () => {
  const { servers } = disk();
  const release = Promise.withResolvers<void>();
  const trainer = createMemoryTrainer({ embedding: 'words/256', dimension: 256, seed: 1 });
  const { gateway } = await testGateway({
    servers,
    trainer: {
      ...trainer,
      async recall(runs) {
        await release.promise;
        await trainer.recall(runs);
      },
    },
  });
  onTestFinished(() => release.resolve());
  const run = (intent: string, code: string) => gateway.executeCode({ code, intent }, NOBODY);
  // From the tenth run on the trainer gets them.
  for (let i = 0; i < 12; i++) {
    await run(`paint picture number ${i} of the barn`, `return await mcp.fun.paint({ how: 'in oil ${i}' });`);
  }
  await run('sing the song of the harvest and dance to it', DANCE);
  const { plan } = await gateway.suggest('please sing the harvest song and dance to it');
  expect(plan.tasks.map(({ tool: id }) => id)).toEqual(['fun:sing', 'fun:dance']);
});
