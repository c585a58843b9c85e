import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../../test/memory/embedder.ts';
import { createMemoryLogger } from '../../../test/memory/logger.ts';
import { createMemoryStore } from '../../../test/memory/store.ts';
import { createMemoryTeam } from '../../../test/memory/team.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import type { Store, TrainerLock } from '../ports.ts';
import { createStoredModel } from './stored-model.ts';

const embedder = createMemoryEmbedder(4);
const NAME = `counts by ${embedder.model}`;
let ids = 0;

function heldLock(store: Store): TrainerLock {
  const { trainerLock } = createMemoryTeam(store).join();
  trainerLock.seek();
  return trainerLock;
}

/** Learns how many runs there are, in two steps; what others do in between is told. */
function counting(store: Store, trainerLock: TrainerLock = heldLock(store), between: () => void = () => {}) {
  let runs: LearnableRun[] = [];
  let learned = 0;
  const logger = createMemoryLogger();
  let now = 0;
  const kept = createStoredModel({
    ports: {
      store,
      embedder,
      trainerLock,
      logger,
      // Every step is a slice of its own.
      clock: { now: () => new Date(0), monotonic: () => (now += 10) },
      crypto: { randomUuid: () => `${++ids}`, sha256: (text) => text },
      sleep: async () => between(),
    },
    what: 'counts',
    form: 'count',
    runs: () => runs,
    *learn() {
      const { length } = runs;
      yield;
      learned++;
      return length < 30 ? null : [{ name: 'count', values: Float32Array.of(length) }];
    },
    read: (values) => values.get('count')![0]!,
  });
  const past = (from: number, to: number) => {
    runs = Array.from({ length: to - from }, (_, i) => ({ runId: `run ${from + i}` }) as LearnableRun);
  };
  return { kept, past, learned: () => learned, logger };
}

const rowsOf = async (store: Store) =>
  (await store.rankerParams.list(NAME, 9)).map(({ metrics }) => metrics.runs);

test('[LEARN-15] training starts after 20 new runs and a tenth of the earlier ones, also after a restart, also with a bounded history', async () => {
  const store = createMemoryStore();
  const first = counting(store);
  for (const count of [19, 20, 29, 30, 49]) {
    first.past(0, count);
    await first.kept.refresh();
  }
  // Of 20 and of 29 there was too little to learn, and nobody waits for twenty more.
  expect([first.learned(), first.kept.current()]).toEqual([3, 30]);
  first.past(0, 1_000);
  await first.kept.refresh();
  expect(await rowsOf(store)).toEqual([1_000]);

  const second = counting(store);
  second.past(99, 1_099);
  await second.kept.refresh();
  expect([second.learned(), second.kept.current()]).toEqual([0, 1_000]);
  second.past(100, 1_100);
  await second.kept.refresh();
  expect(second.learned()).toBe(1);
  // None of those it was learned from is known.
  second.past(5_000, 6_000);
  await second.kept.refresh();
  expect(second.learned()).toBe(2);
  expect(await rowsOf(store)).toEqual([1_000]);
});

test('[TEAM-14] without the trainer lock nothing is learned, and a model trained while the lock is lost is not stored', async () => {
  const store = createMemoryStore();
  const team = createMemoryTeam(store);
  const [a, b] = [team.join(), team.join()];
  a.trainerLock.seek();
  b.trainerLock.seek();
  const [holder, other] = [counting(a.store, a.trainerLock), counting(b.store, b.trainerLock)];
  for (const { past } of [holder, other]) past(0, 50);
  await other.kept.refresh();
  expect([other.learned(), other.kept.current()]).toEqual([0, null]);
  await holder.kept.refresh();
  await other.kept.reload();
  expect([other.learned(), other.kept.current()]).toEqual([0, 50]);

  const losing = counting(a.store, a.trainerLock, () => a.leave());
  losing.past(0, 100);
  await losing.kept.refresh();
  expect([losing.learned(), losing.kept.current()]).toEqual([0, 50]);
  expect(await rowsOf(store)).toEqual([50]);
  other.past(0, 100);
  await other.kept.refresh();
  expect(await rowsOf(store)).toEqual([100]);
});

test('[LEARN-15] a store that does not answer changes nothing, and is asked again', async () => {
  const store = createMemoryStore();
  const { kept, past } = counting(store);
  past(0, 40);
  await kept.refresh();
  let isAway = true;
  const { list } = store.rankerParams;
  const flaky: Store = {
    ...store,
    rankerParams: {
      ...store.rankerParams,
      list: async (...of) => (isAway ? Promise.reject(new Error('away')) : list(...of)),
    },
  };
  const again = counting(flaky);
  await again.kept.recall();
  expect(again.kept.current()).toBeNull();
  expect(again.logger.lines).toMatchObject([{ level: 'warn', fields: { error: 'Error: away' } }]);
  isAway = false;
  await again.kept.recall();
  expect(again.kept.current()).toBe(40);
});

test('stopping during training changes nothing', async () => {
  const stopping = new AbortController();
  const { kept, past, learned } = counting(createMemoryStore(), undefined, () => stopping.abort());
  past(0, 50);
  await expect(kept.refresh(stopping.signal)).rejects.toThrow(/abort/);
  expect([learned(), kept.current()]).toEqual([0, null]);
});
