import { expect, test } from 'vitest';
import { daysOf } from './figures.tsx';

test('hours are added up to the days of the calendar, empty days included', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString();
  const hours = [
    { hour: at(13, 23), runs: 2, successes: 1 },
    { hour: at(15, 0), runs: 3, successes: 3 },
    { hour: at(15, 9), runs: 4, successes: 2 },
  ];
  const days = daysOf({ hours }, 4, new Date(2026, 10, 15, 12));
  expect(days.map(({ start, runs, successes }) => [start.getDate(), runs, successes])).toEqual([
    [12, 0, 0],
    [13, 2, 1],
    [14, 0, 0],
    [15, 7, 5],
  ]);
});
