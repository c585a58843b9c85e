import type { Activity } from '../../../shared/api-types.ts';

export interface Day {
  /** Midnight where the person is. */
  readonly start: Date;
  readonly runs: number;
  readonly successes: number;
}

/** The last `count` days as the person's calendar has them, oldest first, also those without runs. */
export function daysOf({ hours }: Activity, count: number, now: Date): Day[] {
  return Array.from({ length: count }, (_, i) => {
    const start = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (count - 1 - i));
    const end = new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1);
    const own = hours.filter(({ hour }) => new Date(hour) >= start && new Date(hour) < end);
    return {
      start,
      runs: sum(own.map(({ runs }) => runs)),
      successes: sum(own.map((hour) => hour.successes)),
    };
  });
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
