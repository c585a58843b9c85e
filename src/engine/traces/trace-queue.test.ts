import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import { createBackground } from '../background.ts';
import { createTraceQueue } from './trace-queue.ts';

const logger = { log: () => {} };
const sleep = async (ms: number) => void (await delay(ms));

test('[CALL-8] traces are stored in parallel with the answers, in batches, in order, and none is lost', async () => {
  const store = createMemoryStore();
  let writes = 0;
  const counted = {
    ...store,
    traces: {
      ...store.traces,
      appendAll: async (all: Parameters<typeof store.traces.appendAll>[0]) => {
        writes += 1;
        await delay(1);
        await store.traces.appendAll(all);
      },
    },
  };
  const background = createBackground(logger);
  const queue = createTraceQueue({ store: counted, sleep, logger }, background);
  const traces = Array.from({ length: 250 }, () => sampleTrace());
  for (const [i, trace] of traces.entries()) {
    queue.add(trace);
    if (i % 50 === 0) await delay(3);
  }
  await background.settled();
  const { traces: stored } = await store.traces.scan(0, 999);
  expect(stored.map(({ id }) => id)).toEqual(traces.map(({ id }) => id));
  expect(writes).toBeLessThan(50);
});

test('[CALL-8] a trace that cannot be stored does not affect the others', async () => {
  const store = createMemoryStore();
  const [first, second] = [sampleTrace(), sampleTrace()];
  await store.traces.append(first);
  const background = createBackground(logger);
  const queue = createTraceQueue({ store, sleep, logger }, background);
  queue.add(first);
  queue.add(second);
  await background.settled();
  expect(await store.traces.get(second.id)).toEqual(second);
});
