import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOneSlip } from './one-slip.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 6, maxLength: 9 });

test('[SEARCH-6] a letter too many, too few, wrong, or two swapped is one slip, wherever it is', () => {
  fc.assert(
    fc.property(word, fc.nat(8), fc.constantFrom('a', 'x'), (text, at, letter) => {
      const i = Math.min(at, text.length - 2);
      const [before, after] = [text.slice(0, i), text.slice(i)];
      const swapped = `${before}${after[1]}${after[0]}${after.slice(2)}`;
      for (const slip of [
        before + letter + after,
        before + after.slice(1),
        before + letter + after.slice(1),
        swapped,
      ]) {
        expect([slip, isOneSlip(slip, text)]).toEqual([slip, true]);
        expect([slip, isOneSlip(text, slip)]).toEqual([slip, true]);
      }
      expect(isOneSlip(text, `${text}xx`)).toBe(false);
      expect(isOneSlip(text, `x${text.slice(1, -1)}x`)).toBe(false);
    }),
  );
});

test('[SEARCH-6] short words are only forgiven swapped letters', () => {
  expect(isOneSlip('sned', 'send')).toBe(true);
  expect(isOneSlip('lend', 'send')).toBe(false);
  expect(isOneSlip('teh', 'the')).toBe(false);
  expect(isOneSlip('the', 'the')).toBe(true);
});
