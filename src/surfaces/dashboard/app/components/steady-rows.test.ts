import { expect, test } from 'vitest';
import { steadyOrder } from './steady-rows.tsx';

interface Row {
  readonly key: string;
  readonly cell?: string;
}

const rows = (keys: string): Row[] => [...keys].map((key) => ({ key }));
const order = (shown: string, next: string, { isHeld = true, focused = '' } = {}) => {
  const { rows: out, held } = steadyOrder(rows(shown), rows(next), ({ key }) => key, {
    isHeld,
    isKept: (key) => key === focused,
  });
  return [out.map(({ key }) => key).join(''), held];
};

test('[DASH-80] held rows keep their order: new rows above are counted, rows at the end are added, removed rows stay', () => {
  expect(order('abc', 'xyabc')).toEqual(['abc', 2]);
  expect(order('abc', 'cba')).toEqual(['abc', 0]);
  expect(order('abc', 'xab')).toEqual(['abc', 1]);
  expect(order('abc', 'abxcde')).toEqual(['abcde', 1]);
  expect(order('', 'ab')).toEqual(['ab', 0]);
  expect(order('ab', 'xy')).toEqual(['xy', 0]);
});

test('[DASH-80] held rows show their own updates', () => {
  const next = [{ key: 'x' }, { key: 'a', cell: 'done' }];
  const options = { isHeld: true, isKept: () => false };
  expect(steadyOrder<Row>(rows('a'), next, ({ key }) => key, options).rows).toEqual([
    { key: 'a', cell: 'done' },
  ]);
});

test('[DASH-80] rows that are not held follow the data, except a focused one', () => {
  expect(order('abc', 'xab', { isHeld: false })).toEqual(['xab', 0]);
  expect(order('abc', 'xya', { isHeld: false, focused: 'c' })).toEqual(['xyca', 0]);
});
