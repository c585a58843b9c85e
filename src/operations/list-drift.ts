import { z } from 'zod';
import { operation } from './operation.ts';

export const listDrift = operation({
  name: 'list_drift',
  right: 'read',
  summary:
    'Tools whose answers or definitions changed in a way that may break programs, with the affected capabilities',
  input: z.strictObject({}),
  output: z.object({
    drift: z.array(
      z.object({
        tool: z.string(),
        /** `definition`: as the server lists it now, accepted by nobody yet; `answers`: as it answers now. */
        of: z.enum(['answers', 'definition']),
        since: z.string().nullable(),
        /** Answers compared: of the shape before, and of the new one so far. */
        answers: z.object({ before: z.number(), since: z.number() }).nullable(),
        changes: z.array(
          z.object({
            kind: z.string(),
            /** `a.b` a field, `a[]` the items of a list, empty the whole answer. */
            field: z.string(),
            words: z.string(),
            /** One minus the chance of seeing this without a change. */
            confidence: z.number(),
          }),
        ),
        /** `marked`: its program does not read what changed; `admitted`: it has worked since. */
        capabilities: z.array(
          z.object({
            slug: z.string(),
            state: z.enum(['quarantined', 'marked', 'admitted']),
            /** What its recorded runs, and running them again, say to the change; null before. */
            retested: z.string().nullable(),
          }),
        ),
      }),
    ),
  }),
  http: { method: 'GET', path: '/drift' },
  run: async ({ gateway }, _input, caller) => ({
    drift: (await gateway.drift(caller)).map(({ tool, of, since, answers, changes, routines }) => ({
      tool,
      of,
      since: since?.toISOString() ?? null,
      answers,
      changes: changes.map(({ kind, field, words, confidence }) => ({ kind, field, words, confidence })),
      capabilities: [...routines],
    })),
  }),
});
