import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { addAnswer, createShape } from './answer-drift.ts';
import { readAnswer } from './answer-shape.ts';

type Asked = readonly [args: unknown, result: unknown];

/** What is told of these answers, in order; nothing for those without news. */
function told(answers: readonly Asked[]): string[] {
  const shape = createShape();
  return answers.flatMap(([args, result]) => {
    const answer = readAnswer(args, result);
    const news = answer && addAnswer(shape, answer, 0);
    if (!news) return [];
    return [news, ...(shape.drift?.changes.map(({ words }) => words) ?? [])];
  });
}

const times = (n: number, make: (i: number) => unknown, from = 0): Asked[] =>
  Array.from({ length: n }, (_, i) => [{ q: `question ${from + i}` }, make(from + i)]);
const plain = (i: number) => ({ id: `x${i}`, size: 5 + (i % 3), tags: ['a'] });

test.each([
  ['removed', (i: number) => ({ id: `x${i}`, tags: ['a'] }), ['begun', '"size" is missing']],
  [
    'renamed',
    (i: number) => ({ id: `x${i}`, bytes: 5, tags: ['a'] }),
    ['begun', '"size" is missing; "bytes" appeared at the same time'],
  ],
  [
    'type',
    (i: number) => ({ ...plain(i), size: `${i} bytes` }),
    ['begun', '"size" was a number and is a text now'],
  ],
  ['moved', (i: number) => ({ data: plain(i) }), ['begun', '"id", "size", "tags" are in "data" now']],
  [
    'pages',
    (i: number) => ({ ...plain(i), tags: { items: ['a'], next: 'x' } }),
    ['begun', '"tags" was a list; the list is in "tags.items" now, page by page'],
  ],
  [
    'unit',
    (i: number) => ({ ...plain(i), size: 1000 * (5 + (i % 3)) }),
    ['begun', 'numbers in "size" are about 1000 times as large as before'],
  ],
] as const)('[DRIFT-1] %s', (_, changed, news) => {
  expect(told([...times(30, plain), ...times(12, changed, 100)])).toEqual(news);
});

test('[DRIFT-3] the old shape ends the drift, and from then on both shapes are known', () => {
  const renamed = (i: number) => ({ id: `x${i}`, bytes: 5, tags: ['a'] });
  const flapping = [0, 1, 2, 3].flatMap((n) => [
    ...times(4, renamed, 100 * n),
    ...times(3, plain, 100 * n + 50),
  ]);
  const news = told([...times(30, plain), ...flapping]);
  expect(news.filter((each) => each === 'begun' || each === 'ended')).toEqual(['begun', 'ended']);
});

test.each<[string, readonly Asked[]]>([
  ['optional fields', times(200, (i) => ({ id: i, ...(i % 10 !== 3 && { note: 'x' }) }))],
  ['nulls', [...times(30, plain), ...times(10, (i) => ({ ...plain(i), size: null }), 50)]],
  ['empty lists', [...times(30, plain), ...times(10, (i) => ({ ...plain(i), tags: [] }), 50)]],
  ['several types', times(100, (i) => ({ id: i % 4 === 0 ? 'none' : i, at: i % 3 ? null : 'x' }))],
  ['errors', [...times(30, plain), ...times(10, () => ({ error: 'not found', code: 404 }), 50)]],
  ['few answers', [...times(5, plain), ...times(5, () => ({ other: true }), 50)]],
  ['new fields', [...times(30, plain), ...times(10, (i) => ({ ...plain(i), more: true }), 50)]],
  ['growing numbers', times(200, (i) => ({ id: 10 + i * i, at: 1.7e12 + i * 1e6, count: 2 ** (i / 8) }))],
  ['keys that are data', times(60, (i) => ({ [`2026-01-${i}`]: i, [`user ${i}`]: i }))],
  [
    'one new question again and again',
    [...times(30, plain), ...Array.from({ length: 10 }, () => [{ q: 'odd' }, { other: 1 }] as const)],
  ],
  [
    'an argument that changes the answer',
    [
      ...times(30, plain),
      ...times(10, () => ({ total: 3 }), 50).map(([q, r]) => [{ ...(q as object), sum: true }, r] as const),
    ],
  ],
  [
    'larger arguments with larger numbers',
    Array.from(
      { length: 40 },
      (_, i) => [{ limit: i < 28 ? 5 + (i % 3) : 500 + i }, { found: i < 28 ? 5 : 450 + i }] as const,
    ),
  ],
  ['hidden values', [...times(30, plain), ...times(10, (i) => ({ ...plain(i), size: '[redacted]' }), 50)]],
])('[DRIFT-6] %s raise no alarm', (_, answers) => {
  expect(told(answers)).toEqual([]);
});

test('[DRIFT-7] answers of any kind are read, into a JSON shape of bounded size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.jsonValue(), fc.jsonValue({ maxDepth: 8 })), { maxLength: 60 }),
      (answers) => {
        const shape = createShape();
        for (const [args, result] of answers) {
          const answer = readAnswer(args, result);
          if (answer) addAnswer(shape, answer, 0);
        }
        expect(JSON.parse(JSON.stringify(shape))).toEqual(shape);
      },
    ),
    { seed: proofSeed(), numRuns: proofRuns(300) },
  );
  const shape = createShape();
  for (let i = 0; i < 300; i++) {
    const wide = Object.fromEntries(
      Array.from({ length: 60 }, (_, k) => [
        `k${'abcdefghij'[k % 10]}${'abcdefghij'[i % 10]}`,
        { v: k, __proto__x: 1 },
      ]),
    );
    const answer = readAnswer({ [`a${i}`]: `choice${i}` }, { wide, list: [wide, wide], constructor: 1 });
    if (answer) addAnswer(shape, answer, 0);
  }
  expect(JSON.stringify(shape).length).toBeLessThan(200_000);
});
