import { z } from 'zod';

/** Fields shared by several inputs. */

const DEFAULTS = { maxTimeoutMs: 24 * 60 * 60_000 };

/** Maximum number of results. */
export function count(usual: number, most: number) {
  const error = `must be a whole number from 1 to ${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error }).default(usual);
}

/** A date, with or without the time. */
export const moment = z.string().transform((text, context) => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  context.addIssue({ code: 'custom', message: `not a date: ${text}; use a form like 2026-11-15T09:30:00Z` });
  return z.NEVER;
});

export const jsonObject = z.record(z.string(), z.unknown());

/** By name, alias or id. */
export const slug = z.string().min(1);

/** Fields of every kind of call. */
export const callFields = {
  arguments: jsonObject.default({}),
  intent: z.string().min(1).optional(),
  timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
};

/** Converts a call to the engine's form. */
export function callOf(call: {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly intent?: string | undefined;
  readonly timeout_ms?: number | undefined;
}) {
  const { timeout_ms: timeoutMs, intent, arguments: args } = call;
  return {
    arguments: args,
    ...(intent !== undefined && { intent }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}
