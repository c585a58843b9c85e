import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { linesOf } from './trace-import.ts';

async function split(pieces: readonly string[], maxLength: number) {
  const stream = (async function* () {
    yield* pieces;
  })();
  return await Array.fromAsync(linesOf(stream, maxLength));
}

test('[TRACE-15] lines are the same however the text is cut into pieces', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\ufeff'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (pieces) => {
      const lines = pieces.join('').split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = lines.map((line, i) => ({
        number: i + 1,
        text: i === 0 && line.startsWith('\ufeff') ? line.slice(1) : line,
      }));
      expect(await split(pieces, 1_000)).toEqual(expected);
    }),
    { numRuns: proofRuns(1_000), seed: proofSeed() },
  );
});

test('[TRACE-15] a line that is too long is counted and not kept', async () => {
  expect(await split(['abc\nabcd', 'ef\n', 'ab\n', 'abcdef'], 4)).toEqual([
    { number: 1, text: 'abc' },
    { number: 2, text: null },
    { number: 3, text: 'ab' },
    { number: 4, text: null },
  ]);
});
