import { describe, expect, onTestFinished, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { decodeParams, encodeParams, type ParamsHead } from '../../src/core/learning/ranker/params-file.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { Store } from '../../src/engine/ports.ts';
import { createMemoryLogger } from '../memory/logger.ts';
import { createMemoryStore } from '../memory/store.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';
import { planOf } from '../support/workflow-plan.ts';

const SERVERS = ['north', 'east', 'south'].map((name) => ({
  name,
  tools: ['one', 'two', 'three'].map((nth) => tool(`handle_${nth}`, () => ({ done: `${name} ${nth}` }))),
}));

/** Kinds of work whose tools no text reveals, each done in this order. */
const WORK = [
  { says: 'water the roses and the ferns on the balcony', uses: ['north:handle_three', 'east:handle_one'] },
  { says: 'send the weekly invoice to the accountant', uses: ['east:handle_two', 'south:handle_two'] },
  { says: 'tune the old piano before the concert', uses: ['south:handle_three', 'north:handle_one'] },
];
const ASKED = 'please water the roses and the ferns on the balcony';
const KEPT = ['plans by words/256', 'next steps by words/256'];
/** After so many, the ranker was just trained: steps since then do not outlive a gateway. */
const RUNS = 40;

async function open(store: Store) {
  const logger = createMemoryLogger();
  const { gateway } = await testGateway({ servers: SERVERS, store, logger });
  const said = (text: string) => logger.lines.filter(({ message }) => message.startsWith(text));
  return { gateway, close: gateway.close, said };
}

async function work(gateway: Gateway): Promise<void> {
  for (let nth = 0; nth < RUNS; nth++) {
    const { says, uses } = WORK[nth % WORK.length]!;
    const plan = planOf(
      uses.map((id, i) => ({ id: `t${i}`, tool: id, dependsOn: i === 0 ? [] : [`t${i - 1}`] })),
    );
    const made = await gateway.executeWorkflow(plan, `${says}, week ${nth}`, NOBODY);
    expect(made.status).toBe('success');
  }
  await gateway.settled();
}

/** The store keeps the vectors of clauses in half precision: what is recalled is not quite what was met. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'number' ? +part.toFixed(4) : part));
}

/** What is answered from what was learned; asking is what starts learning where it is due. */
async function answers(gateway: Gateway) {
  const { plan, confidence, edges } = await gateway.suggest(ASKED);
  const next = await gateway.predictNext(ASKED, ['north:handle_three']);
  await gateway.settled();
  return { tasks: plan.tasks, edges, confidence, next };
}

async function learnedBy(store: Store) {
  const { gateway, close } = await open(store);
  await work(gateway);
  const copied = await answers(gateway);
  const learned = await answers(gateway);
  await close();
  return { copied, learned };
}

const newestIds = async (store: Store) =>
  (await Promise.all(KEPT.map((name) => store.rankerParams.list(name, 9)))).map((rows) =>
    rows.map(({ id }) => id),
  );

/** A store, and the same one after a restart of the process. */
const STORES = {
  'in memory': async () => {
    const store = createMemoryStore();
    return { first: store, again: async () => store };
  },
  'in PGlite': async () => {
    const dir = await temporaryDir();
    const first = await openPgliteStore(dir);
    return {
      first,
      async again() {
        await first.close();
        const store = await openPgliteStore(dir);
        onTestFinished(() => store.close());
        return store;
      },
    };
  },
};

describe.each(Object.entries(STORES))('a store %s', (_, make) => {
  test('[LEARN-15] after a restart plans and next steps are the same, and nothing is learned again', async () => {
    const { first, again } = await make();
    const { copied, learned } = await learnedBy(first);
    expect(learned.confidence).not.toBe(copied.confidence);
    expect(learned.next[0]).toMatchObject({
      node: 'east:handle_one',
      reason: expect.stringMatching(/^followed/),
    });
    const ids = await newestIds(first);
    expect(ids.map((rows) => rows.length)).toEqual([1, 1]);

    const store = await again();
    const second = await open(store);
    const recalled = await answers(second.gateway);
    expect(rounded(recalled)).toEqual(rounded(learned));
    expect(second.said('Learned')).toEqual([]);
    await second.close();

    const { gateway, said } = await open(store);
    expect(await answers(gateway)).toEqual(recalled);
    expect(said('Learned')).toEqual([]);
    expect(await newestIds(store)).toEqual(ids);
  });
});

function rewritten(bytes: Uint8Array, over: Partial<ParamsHead>): Uint8Array {
  const { head, values } = decodeParams(bytes);
  const blocks = [...values].map(([name, numbers]) => ({ name, values: numbers }));
  return encodeParams({ ...head, ...over }, blocks);
}

test('[LEARN-16] stored models that are damaged or of another version, embedding model or feature set are reported and trained again', async () => {
  const store = createMemoryStore();
  const { learned } = await learnedBy(store);
  const spoilers: ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes.slice(0, -1),
    (bytes) => bytes.with(4, 99),
    (bytes) => rewritten(bytes, { embedding: 'other/256' }),
    (bytes) => rewritten(bytes, { form: 'other' }),
  ];
  for (const spoil of spoilers) {
    for (const name of KEPT) {
      const [row] = await store.rankerParams.list(name, 1);
      await store.rankerParams.remove(row!.id);
      await store.rankerParams.save({ ...row!, bytes: spoil(row!.bytes) });
    }
    const { gateway, said, close } = await open(store);
    expect(said('What was learned about').map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'What was learned about plans is ignored and will be learned again'],
      ['warn', 'What was learned about next steps is ignored and will be learned again'],
    ]);
    expect(said('Learned')).toHaveLength(2);
    expect(rounded(await answers(gateway))).toEqual(rounded(learned));
    await close();
  }
});

test('[LEARN-17] a model keeps what it learned from forgotten runs until the next training; without runs, search suggests', async () => {
  const store = createMemoryStore();
  const { learned } = await learnedBy(store);
  const ids = await newestIds(store);
  const { traces } = await store.traces.scan(0, 999);
  await store.traces.remove(traces.slice(0, 3).map(({ id }) => id));
  const fewer = await open(store);
  const toolsOf = ({ tasks }: typeof learned) => tasks.map(({ tool: id }) => id);
  expect(toolsOf(await answers(fewer.gateway))).toEqual(toolsOf(learned));
  expect(await newestIds(store)).toEqual(ids);
  await fewer.close();

  // The newest, which shows how many came later.
  await store.traces.remove(traces.slice(-3).map(({ id }) => id));
  const anew = await open(store);
  expect(anew.said('Learned').map(({ fields }) => fields.runs)).toEqual([RUNS - 6, RUNS - 6]);
  await anew.close();

  await store.traces.remove(traces.map(({ id }) => id));
  const { gateway } = await open(store);
  const { next } = await answers(gateway);
  expect(new Set(next.map(({ reason }) => reason))).toEqual(new Set(['fits the intent']));
});
