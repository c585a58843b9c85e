import { expect, test } from 'vitest';
import { createRandom } from './random.ts';

const draw = (seed: number, count: number) => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

test('[NUM-7] the same seed gives the same numbers, another seed gives others', () => {
  expect(draw(42, 100)).toEqual(draw(42, 100));
  const firsts = new Set([0, 1, 2, -1, 2 ** 32, 2 ** 40 + 1, 1.5e15].map((seed) => draw(seed, 1)[0]));
  expect(firsts.size).toBe(7);
});

test('[NUM-7] numbers are spread evenly over [0, 1), whole ones over their range', () => {
  const count = 20_000;
  const bins = new Array<number>(10).fill(0);
  for (const value of draw(7, count)) bins[Math.floor(value * 10)]! += 1;
  // Five standard deviations of a binomial count.
  for (const bin of bins) expect(Math.abs(bin - count / 10)).toBeLessThan(5 * Math.sqrt(count * 0.1 * 0.9));
  const random = createRandom(3);
  expect(new Set(Array.from({ length: 200 }, () => random.int(6)))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
});

test('[NUM-7] normal numbers have mean 0 and variance 1', () => {
  const random = createRandom(11);
  const values = Array.from({ length: 20_000 }, () => random.normal());
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  expect(Math.abs(mean)).toBeLessThan(0.03);
  expect(Math.abs(variance - 1)).toBeLessThan(0.05);
});

test('[NUM-7] shuffling keeps every item and favours no order', () => {
  const random = createRandom(5);
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const order = random.shuffle(['a', 'b', 'c']).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
