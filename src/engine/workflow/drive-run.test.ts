import { expect, test } from 'vitest';
import { createJournal } from './drive-run.ts';

/** A store that commits when told to. */
function slowStore() {
  const saved: Readonly<Record<string, unknown>>[] = [];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const lost: unknown[] = [];
  const save = (tasks: Readonly<Record<string, unknown>>) => {
    saved.push(tasks);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ resolve, reject });
    return promise;
  };
  const journal = createJournal(
    save,
    async () => {},
    (error) => lost.push(error),
  );
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
  return { journal, saved, waiting, lost, settled };
}

test('[FLOW-12] an end is written together with the start that follows it, and later changes with the next write', async () => {
  const { journal, saved, waiting, settled } = slowStore();
  journal.note('a', 'done');
  const begun = journal.write('b', 'begun');
  await settled();
  expect(saved).toEqual([{ a: 'done', b: 'begun' }]);
  journal.note('b', 'done');
  void journal.write('c', 'begun');
  void journal.write('d', 'begun');
  await settled();
  expect(saved).toHaveLength(1);
  waiting.shift()!.resolve();
  await begun;
  await settled();
  expect(saved[1]).toEqual({ b: 'done', c: 'begun', d: 'begun' });
});

test('[FLOW-12] an end without a following start is written soon, and the rest is returned once', async () => {
  const { journal, saved, waiting, settled } = slowStore();
  journal.note('a', 'done');
  await settled();
  expect(saved).toEqual([{ a: 'done' }]);
  journal.note('b', 'done');
  const rest = journal.rest();
  waiting.shift()!.resolve();
  await settled();
  for (const { resolve } of waiting) resolve();
  const left = await rest;
  expect([...saved.slice(1), left].flatMap((states) => Object.entries(states))).toEqual([['b', 'done']]);
  expect(await journal.rest()).toEqual({});
});

test('[FLOW-14] after a refused write nothing more is written, and waiting callers get the error', async () => {
  const { journal, saved, waiting, lost, settled } = slowStore();
  const begun = journal.write('a', 'begun');
  await settled();
  waiting.shift()!.reject(new Error('not ours'));
  await expect(begun).rejects.toThrow('not ours');
  await expect(journal.write('b', 'begun')).rejects.toThrow('not ours');
  await expect(journal.rest()).rejects.toThrow('not ours');
  expect([saved.length, lost.length > 0]).toEqual([1, true]);
});
