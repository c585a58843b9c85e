import { appendFile, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleTrace } from '../../../test/support/samples.ts';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import { openTraceJournal } from './trace-journal.ts';

const OPTIONS = { maxBytes: 1_000_000, fileBytes: 10_000 };

test('[TEAM-10] traces come back from disk exactly, in order, also to the next process', async () => {
  const dir = await temporaryDir();
  const journal = openTraceJournal(dir, OPTIONS);
  const traces = Array.from({ length: 25 }, () => sampleTrace());
  for (const trace of traces.slice(0, 12)) journal.add(trace);
  expect(journal.oldest(3)).toEqual(traces.slice(0, 3));
  journal.confirm(3);
  for (const trace of traces.slice(12)) journal.add(trace);
  expect(journal.size).toBe(22);

  // Not closed: a process that is killed closes nothing.
  const next = openTraceJournal(dir, OPTIONS);
  const found = [];
  while (next.size > 0) {
    const batch = next.oldest(4);
    found.push(...batch);
    next.confirm(batch.length);
  }
  // What was confirmed within a file is told again: the store knows it.
  expect(found.slice(-22)).toEqual(traces.slice(3));
  expect(await readdir(dir)).toEqual([]);
});

test('[TEAM-10] an incomplete entry of a killed process is cut off, and nothing before it', async () => {
  const dir = await temporaryDir();
  const journal = openTraceJournal(dir, { ...OPTIONS, fileBytes: 1_000_000 });
  const traces = [sampleTrace(), sampleTrace()];
  for (const trace of traces) journal.add(trace);
  const file = join(dir, (await readdir(dir))[0]!);
  const whole = await readFile(file);
  for (let cut = 1; cut < whole.length / 2; cut += 97) {
    await writeFile(file, whole);
    await truncate(file, whole.length - cut);
    const next = openTraceJournal(dir, OPTIONS);
    expect(next.oldest(9)).toEqual([traces[0]]);
    next.close();
  }
  await writeFile(file, whole);
  await appendFile(file, Buffer.from([9, 0, 0, 0, 1]));
  const next = openTraceJournal(dir, OPTIONS);
  const third = sampleTrace();
  next.add(third);
  expect(next.oldest(9)).toEqual(traces);
  next.confirm(2);
  expect(next.oldest(9)).toEqual([third]);
});

test('[TEAM-11] stored traces leave no bytes behind, and the journal says when it is full', async () => {
  const dir = await temporaryDir();
  const journal = openTraceJournal(dir, { maxBytes: 30_000, fileBytes: 10_000 });
  for (let round = 0; round < 3; round++) {
    expect(journal.hasRoom).toBe(true);
    while (journal.hasRoom) journal.add(sampleTrace());
    // A run under way when it became full has its trace kept all the same.
    journal.add(sampleTrace());
    while (journal.size > 0) journal.confirm(journal.oldest(5).length);
  }
  expect(journal.hasRoom).toBe(true);
  const left = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name))));
  expect(left.reduce((sum, { length }) => sum + length, 0)).toBe(0);
});
