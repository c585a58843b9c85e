import { expect, test } from 'vitest';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Store } from '../../src/engine/ports.ts';
import { createMemoryStore } from '../memory/store.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

/** Tools whose texts say nothing of what they are good for. */
const SERVERS = ['north', 'east', 'south'].map((name) => ({
  name,
  tools: ['one', 'two', 'three', 'four'].map((nth) => tool(`handle_${nth}`, () => 'done')),
}));

const WORK = [
  { tool: 'north:handle_three', says: 'water the roses and the ferns on the balcony' },
  { tool: 'east:handle_one', says: 'send the weekly invoice to the accountant' },
  { tool: 'south:handle_four', says: 'tune the old piano before the concert' },
] as const;

const QUERY = 'please water the roses and the ferns on the balcony';

function open(store: Store) {
  return testGateway({ servers: SERVERS, store });
}

/** So many runs, in turn of each kind of work, each in words of its own. */
async function work(gateway: Gateway, from: number, to: number): Promise<void> {
  for (let nth = from; nth < to; nth++) {
    const { tool: id, says } = WORK[nth % WORK.length]!;
    const made = await gateway.executeTool(
      { tool: id, arguments: {}, intent: `${says}, week ${nth}` },
      NOBODY,
    );
    expect(made.status).toBe('success');
  }
  await gateway.settled();
}

test('[LEARN-7] runs train the ranker automatically; once the newest prove it, search ranks what they used first and says why', async () => {
  const { gateway } = await open(createMemoryStore());
  const query = { query: QUERY, explain: true };
  await work(gateway, 0, 19);
  expect(await gateway.learning.report()).toMatchObject({ runs: 19, model: null, gate: { open: false } });
  const [before] = await gateway.searchTools(query);
  expect(before?.parts).not.toHaveProperty('learned');
  expect(before).not.toHaveProperty('reasons');

  const heard: string[] = [];
  gateway.events.follow(({ event }) => heard.push(event.type));
  await work(gateway, 19, 41);
  const report = await gateway.learning.report();
  expect(report).toMatchObject({ runs: 41, training: null, gate: { open: true }, model: { runs: 40 } });
  expect(report.gate.ci95[0]).toBeGreaterThan(0);
  expect(report.history.map(({ runs }) => runs)).toEqual([40, 20]);
  expect(report.losses.at(-1)).toBeLessThan(report.losses[0]!);
  expect(report.success).toMatchObject({ successRate: 1, meanPathLength: 1 });
  expect(heard.filter((type) => type === 'ranker_trained' || type === 'gate_changed').toSorted()).toEqual([
    'gate_changed',
    'ranker_trained',
    'ranker_trained',
  ]);

  const [first] = await gateway.searchTools(query);
  expect(first).toMatchObject({
    tool: { id: WORK[0].tool },
    parts: { learned: expect.any(Number) },
    reasons: { runs: [{ intent: expect.stringMatching(/^water the roses/) }, {}, {}] },
  });
  const [strongest] = first!.reasons!.parts;
  expect(strongest!.moved).toBeGreaterThan(0);
});

test('[LEARN-18] a question unlike all runs is ranked by text alone while the ranker serves', async () => {
  const { gateway } = await open(createMemoryStore());
  const foreign = { query: 'capital of France', explain: true };
  const before = await gateway.searchTools(foreign);
  await work(gateway, 0, 41);
  expect(await gateway.learning.report()).toMatchObject({ gate: { open: true } });
  const [known] = await gateway.searchTools({ query: `${WORK[0].says}, week 41` });
  expect(known).toMatchObject({ tool: { id: WORK[0].tool }, parts: { learned: expect.any(Number) } });
  expect(known!.parts.learnedShare).toBeGreaterThan(0);
  const after = await gateway.searchTools(foreign);
  expect(after.map(({ tool }) => tool.id)).toEqual(before.map(({ tool }) => tool.id));
  for (const hit of after) {
    expect(hit.parts).toMatchObject({ learnedShare: 0 });
    expect(hit.parts).not.toHaveProperty('learned');
    expect(hit).not.toHaveProperty('reasons');
  }
});

test('[LEARN-8] rolling back restores the previous model, finally plain search, and no run undoes it', async () => {
  const { gateway } = await open(createMemoryStore());
  await expect(gateway.learning.rollBack()).rejects.toMatchObject({ code: 'not_found' });
  await work(gateway, 0, 20);
  const early = await gateway.learning.report();
  expect(early).toMatchObject({ history: [{ runs: 20 }] });
  await work(gateway, 20, 40);
  expect(await gateway.learning.report()).toMatchObject({ gate: { open: true }, model: { runs: 40 } });

  const back = await gateway.learning.rollBack();
  expect(back).toMatchObject({ gate: early.gate, model: early.model, evidence: early.evidence });
  expect((await gateway.searchTools({ query: QUERY }))[0]?.parts).not.toHaveProperty('learned');
  await work(gateway, 40, 41);
  expect(await gateway.learning.report()).toMatchObject({ runs: 41, history: [{ runs: 20 }] });

  expect(await gateway.learning.rollBack()).toMatchObject({
    model: null,
    history: [],
    gate: { open: false },
  });
  await work(gateway, 41, 43);
  expect(await gateway.learning.report()).toMatchObject({ model: null, gate: { open: false, n: 0 } });
  expect(await gateway.learning.train()).toMatchObject({ model: { runs: 43 }, history: [{ runs: 43 }] });
});

test('[LEARN-10] a gateway on the same store ranks with the stored model at once; an unreadable model is ignored', async () => {
  const store = createMemoryStore();
  const first = await open(store);
  await work(first.gateway, 0, 40);
  await first.gateway.close();

  const { gateway } = await open(store);
  const [found] = await gateway.searchTools({ query: QUERY });
  expect(found).toMatchObject({ tool: { id: WORK[0].tool }, parts: { learned: expect.any(Number) } });
  expect(await gateway.learning.report()).toMatchObject({ runs: 40, history: [{ runs: 40 }, { runs: 20 }] });
  await work(gateway, 40, 41);
  expect((await gateway.learning.report()).history).toHaveLength(2);
  await gateway.close();

  const [newest] = await store.rankerParams.list('words/256', 1);
  await store.rankerParams.remove(newest!.id);
  await store.rankerParams.save({ ...newest!, bytes: newest!.bytes.slice(0, -1) });
  const { gateway: damaged } = await open(store);
  expect(await damaged.learning.report()).toMatchObject({ runs: 41, gate: { open: false } });
  expect((await damaged.searchTools({ query: QUERY }))[0]?.parts).not.toHaveProperty('learned');
  expect(await damaged.learning.train()).toMatchObject({ gate: { open: false }, model: { runs: 41 } });
});

test('[LEARN-3] a stopped training leaves everything as it was, and so does one with too few runs', async () => {
  const { gateway } = await open(createMemoryStore());
  await work(gateway, 0, 9);
  expect(await gateway.learning.train()).toMatchObject({ runs: 9, leastRuns: 10, model: null, history: [] });
  await work(gateway, 9, 25);
  const before = await gateway.learning.report();
  const heard: string[] = [];
  gateway.events.follow(({ event }) => heard.push(event.type));
  const training = gateway.learning.train();
  const joined = gateway.learning.train();
  const told = expect(training).rejects.toMatchObject({ code: 'cancelled' });
  const toldToo = expect(joined).rejects.toMatchObject({ code: 'cancelled' });
  while (!(await gateway.learning.report()).training);
  await gateway.learning.stop();
  await told;
  await toldToo;
  expect(heard.at(-1)).toBe('training_stopped');
  expect(await gateway.learning.report()).toEqual(before);
});
