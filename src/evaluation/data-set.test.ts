import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../test/support/temporary-dir.ts';
import { findDataSets, readDataSet } from './data-set.ts';

const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const TOOLS = [
  { id: 'no_colon', server: 'S', name: 'no_colon', description: 'Does it' },
  { id: 's:b', server: 's', name: 'b', description: '', inputSchema: { type: 'object' } },
  { id: 'x:b', server: 'x', name: 'b', description: 'The same elsewhere' },
];
const TASKS = [
  {
    id: '1',
    intent: 'do it',
    tools: ['no_colon', 's:b'],
    edges: [['no_colon', 's:b']],
    group: 'g',
    alts: { 's:b': ['x:b'] },
  },
  { id: '2', intent: 'both', tools: ['no_colon', 's:b'], edges: [], group: 'h' },
];
const RUNS = [{ id: 'r', task: '1', intent: 'do it', tools: ['s:b', 's:b'], ok: [true, false] }];
const OPTIONS = { split: 'dev', tasks: 'tasks' } as const;

async function folderOf(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const dir = await temporaryDir();
  const folder = join(dir, 'mine');
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const whole = {
  'tools.jsonl': lines(TOOLS),
  'tasks.train.jsonl': lines(TASKS),
  'tasks.dev.jsonl': lines(TASKS.slice(1)),
};

test('[EVAL-2] a data set is read from its folder, ids verbatim', async () => {
  const folder = await folderOf(whole);
  const { name, split, tools, train, test: measured } = await readDataSet(folder, OPTIONS);
  expect({ name, split }).toEqual({ name: 'mine', split: 'dev' });
  expect(tools.map(({ id, inputSchema }) => [id, inputSchema])).toEqual([
    ['no_colon', {}],
    ['s:b', { type: 'object' }],
    ['x:b', {}],
  ]);
  expect(train[0]).toEqual({
    id: '1',
    intent: 'do it',
    tools: ['no_colon', 's:b'],
    alternatives: { 's:b': ['x:b'] },
    group: 'g',
    isOrdered: true,
    edges: [['no_colon', 's:b']],
    isParallel: false,
  });
  expect(measured.map(({ id, isOrdered }) => [id, isOrdered])).toEqual([['2', false]]);
});

test('[EVAL-2] recorded runs keep repeats, belong to their task and have an order', async () => {
  const folder = await folderOf({
    ...whole,
    'traces.train.jsonl': lines(RUNS),
    'traces.dev.jsonl': lines(RUNS),
  });
  const { train } = await readDataSet(folder, { split: 'dev', tasks: 'traces' });
  expect(train[0]).toMatchObject({ tools: ['s:b', 's:b'], group: '1', isOrdered: true });
});

test('[EVAL-10] files may be given instead, then dev is not read; distractors are added, gzipped or not', async () => {
  const { 'tasks.dev.jsonl': _, ...rest } = whole;
  const more = [{ id: 'other:x', server: 'other', name: 'x', description: 'Else' }, TOOLS[0]];
  const folder = await folderOf({
    ...rest,
    'held-out.jsonl': lines(TASKS),
    'more.jsonl.gz': gzipSync(lines(more)),
  });
  const data = await readDataSet(folder, {
    ...OPTIONS,
    testFile: join(folder, 'held-out.jsonl'),
    distractors: join(folder, 'more.jsonl.gz'),
  });
  expect(data.split).toBe('held-out.jsonl');
  expect(data.train).toHaveLength(2);
  expect(data.tools.map(({ id }) => id)).toEqual(['no_colon', 's:b', 'x:b', 'other:x']);
});

test('[EVAL-2] a folder is a data set, or holds several, or the error says what is missing', async () => {
  const folder = await folderOf(whole);
  expect(await findDataSets(folder)).toEqual([folder]);
  expect(await findDataSets(join(folder, '..'))).toEqual([folder]);
  await expect(findDataSets(join(folder, 'nowhere'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('nowhere'),
  });
  await expect(findDataSets(await temporaryDir())).rejects.toMatchObject({
    message: expect.stringContaining('No data set found'),
    hint: expect.stringContaining('tools.jsonl'),
  });
});

test.each([
  ['tasks.dev.jsonl', undefined, /tasks\.dev\.jsonl cannot be read/],
  ['tasks.dev.jsonl', '{"id": 1\n', /tasks\.dev\.jsonl:1 is not JSON/],
  ['tasks.dev.jsonl', `${lines(TASKS)}{"id":"3","intent":"x"}`, /tasks\.dev\.jsonl: entry 3: tools/],
  ['tasks.train.jsonl', '\n', /contains no tasks/],
  ['tools.jsonl', '[]', /tools\.jsonl: entry 1/],
])('[EVAL-2] %s that reads %j is rejected with its place', async (name, text, message) => {
  const files: Record<string, string> = { ...whole };
  if (text === undefined) delete files[name];
  else files[name] = text;
  await expect(readDataSet(await folderOf(files), OPTIONS)).rejects.toThrow(message);
});

test.each([
  ['tools', { tools: ['no_colon', 'gone'] }],
  ['alternatives', { alts: { 's:b': ['gone'] } }],
  ['edges', { edges: [['no_colon', 'gone']] }],
])('[EVAL-16] a task whose %s name a tool that the set does not have is rejected', async (_, change) => {
  const tasks = [TASKS[0], { ...TASKS[1], id: 'odd one', ...change }];
  for (const file of ['tasks.train.jsonl', 'tasks.dev.jsonl']) {
    const reading = readDataSet(await folderOf({ ...whole, [file]: lines(tasks) }), OPTIONS);
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(new RegExp(`${file}: task "odd one" names the tool "gone"`)),
    });
  }
});

test('[EVAL-16] a distractor is correct for no task', async () => {
  const files = { ...whole, 'tasks.dev.jsonl': lines([{ ...TASKS[1], tools: ['gone'] }]) };
  const folder = await folderOf({
    ...files,
    'more.jsonl': lines([{ id: 'gone', server: 'o', name: 'gone', description: '' }]),
  });
  const reading = readDataSet(folder, { ...OPTIONS, distractors: join(folder, 'more.jsonl') });
  await expect(reading).rejects.toThrow(/"gone", which is not in tools\.jsonl/);
});

test('[EVAL-2] a file that claims to be gzipped but is not is rejected', async () => {
  const folder = await folderOf({ ...whole, 'more.gz': 'plain' });
  const reading = readDataSet(folder, { ...OPTIONS, distractors: join(folder, 'more.gz') });
  await expect(reading).rejects.toThrow(/not a gzipped file/);
});
