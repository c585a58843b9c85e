import { z } from 'zod';
import { may } from '../engine/people/roles.ts';
import { ALERT_KINDS } from '../engine/ports/settings.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';

export const listAlerts = operation({
  name: 'list_alerts',
  right: 'read',
  summary: 'Current problems: failing and slow tools, drift, budgets running out, calls waiting for a person',
  input: z.strictObject({}),
  output: z.object({
    /** The newest last. */
    alerts: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(ALERT_KINDS),
        /** A tool, or the name of a key; null: the whole gateway. */
        subject: z.string().nullable(),
        words: z.string(),
        since: z.string(),
      }),
    ),
    /** How far back failures and durations are counted. */
    window_minutes: z.number(),
    /** Whether alerts are also sent to a webhook. */
    webhook: z.boolean(),
  }),
  http: { method: 'GET', path: '/alerts' },
  async run({ gateway }, _input, caller) {
    const who = askerOf(caller);
    // What a key has used is for itself and for those who manage keys.
    const isShown = ({ kind, subject }: { kind: string; subject: string | null }) =>
      kind !== 'budget' || subject === who.name || may(who, 'manage');
    const { windowMs, webhook } = gateway.settings().alerts;
    return {
      alerts: (await gateway.alerts.current())
        .filter(isShown)
        .map(({ since, ...alert }) => ({ ...alert, since: since.toISOString() })),
      window_minutes: windowMs / 60_000,
      webhook: webhook !== null,
    };
  },
});
