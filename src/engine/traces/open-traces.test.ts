import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { createMemoryJournal } from '../../../test/memory/trace-journal.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { createBackground } from '../background.ts';
import { createJournaledQueue } from './open-traces.ts';

const logger = { log: () => {} };
const sleep = async (ms: number, signal?: AbortSignal) =>
  void (await delay(ms, undefined, signal && { signal }));

/** A store that can be taken away. */
function fickleStore() {
  const store = createMemoryStore();
  const state = { isAway: false };
  const meet = () => {
    if (state.isAway) throw new PmlError('store_unavailable', 'the server is away');
  };
  const traces = {
    ...store.traces,
    async append(trace: ExecutionTrace) {
      meet();
      if (trace.errorMessage === 'poison') throw new PmlError('store_refused', 'no table can hold it');
      await store.traces.append(trace);
    },
    async appendAll(all: readonly ExecutionTrace[]) {
      meet();
      if (all.some(({ errorMessage }) => errorMessage === 'poison'))
        throw new PmlError('store_refused', 'no table can hold it');
      await store.traces.appendAll(all);
    },
  };
  const stored = async () => (await store.traces.scan(0, 9_999)).traces.map(({ id }) => id);
  return { store: { ...store, traces }, state, stored };
}

function queueOn(fickle: ReturnType<typeof fickleStore>, journal = createMemoryJournal()) {
  const background = createBackground(logger);
  const told: string[] = [];
  const hooks = { storing: [], stored: [({ id }: ExecutionTrace) => void told.push(id)] };
  const queue = createJournaledQueue({ store: fickle.store, sleep, logger }, journal, background, hooks);
  return { queue, journal, background, told };
}

test('[TEAM-10] while the store is unreachable traces wait, and are stored in order when it is back', async () => {
  const fickle = fickleStore();
  const { queue, journal, background, told } = queueOn(fickle);
  const traces = Array.from({ length: 250 }, () => sampleTrace());
  for (const trace of traces.slice(0, 50)) queue.add(trace);
  await background.settled();
  fickle.state.isAway = true;
  // A caller that waits for a trace waits no longer than until it is clear that the store is away.
  await queue.store(traces[50]!);
  for (const trace of traces.slice(51)) queue.add(trace);
  expect(journal.size).toBe(200);
  expect(await fickle.stored()).toHaveLength(50);
  fickle.state.isAway = false;
  await background.settled();
  expect(await fickle.stored()).toEqual(traces.map(({ id }) => id));
  expect(told).toEqual(traces.map(({ id }) => id));
  expect(journal.size).toBe(0);
});

test('[TEAM-10] traces that a gateway left on disk are stored by the next one, each once', async () => {
  const fickle = fickleStore();
  const journal = createMemoryJournal();
  const traces = Array.from({ length: 120 }, () => sampleTrace());
  for (const trace of traces) journal.add(trace);
  // Stored by the one before, which was killed before it could note so.
  await fickle.store.traces.appendAll(traces.slice(0, 7));
  const { background, told } = queueOn(fickle, journal);
  await background.settled();
  expect(await fickle.stored()).toEqual(traces.map(({ id }) => id));
  expect(told).toEqual(traces.slice(7).map(({ id }) => id));
});

test('[TEAM-10] a gateway that ends while the store is unreachable leaves its traces on disk', async () => {
  const fickle = fickleStore();
  fickle.state.isAway = true;
  const { queue, journal, background } = queueOn(fickle);
  queue.add(sampleTrace());
  await queue.store(sampleTrace());
  await background.stop();
  expect(journal.size).toBe(2);
});

test('[TEAM-11] when the limit is reached, new runs are refused with the reason, and no active run loses its trace', async () => {
  const fickle = fickleStore();
  fickle.state.isAway = true;
  const { queue, background } = queueOn(fickle, createMemoryJournal(3));
  for (let i = 0; i < 3; i++) {
    queue.admit();
    queue.add(sampleTrace());
  }
  expect(() => queue.admit()).toThrowError(/store is not available, and 3 traces are waiting on disk/);
  queue.add(sampleTrace());
  fickle.state.isAway = false;
  await background.settled();
  queue.admit();
  expect(await fickle.stored()).toHaveLength(4);
});

test('[TEAM-10] a trace that no store can hold does not block the others', async () => {
  const fickle = fickleStore();
  const { queue, background, journal } = queueOn(fickle);
  const [first, last] = [sampleTrace(), sampleTrace()];
  for (const trace of [first, sampleTrace({ errorMessage: 'poison' }), last]) queue.add(trace);
  await background.settled();
  expect(await fickle.stored()).toEqual([first.id, last.id]);
  expect(journal.size).toBe(0);
});
