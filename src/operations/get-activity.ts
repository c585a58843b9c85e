import { z } from 'zod';
import { count } from './input-fields.ts';
import { operation } from './operation.ts';

const DEFAULTS = { days: 14, maxDays: 366 };
const DAY_MS = 24 * 3_600_000;

export const getActivity = operation({
  name: 'get_activity',
  right: 'read',
  summary: 'Runs per hour, oldest first; hours without runs are left out',
  input: z.strictObject({ days: count(DEFAULTS.days, DEFAULTS.maxDays) }),
  output: z.object({
    hours: z.array(z.object({ hour: z.string(), runs: z.number(), successes: z.number() })),
  }),
  http: { method: 'GET', path: '/activity' },
  async run({ gateway }, { days }) {
    const hours = await gateway.store.traces.tally(new Date(Date.now() - days * DAY_MS));
    return { hours: hours.map(({ hour, ...counts }) => ({ hour: hour.toISOString(), ...counts })) };
  },
});
