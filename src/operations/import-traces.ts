import { z } from 'zod';
import { importTraces as importLines } from '../engine/traces/import-traces.ts';
import { operation } from './operation.ts';

export const importTraces = operation({
  name: 'import_traces',
  right: 'bridge',
  summary: 'Imports traces from lines of JSON; an unusable line does not stop the others',
  input: z.strictObject({
    lines: z.array(
      z.strictObject({
        /** From 1. */
        number: z.int().min(1),
        /** Null for one that was too long to be read. */
        text: z.string().nullable(),
      }),
    ),
  }),
  output: z.object({
    imported: z.number(),
    /** Already there. */
    skipped: z.number(),
    refused: z.number(),
    /** Why, for the first of them. */
    refusals: z.array(z.object({ line: z.number(), reason: z.string() })),
  }),
  run: ({ gateway }, { lines }) =>
    importLines({ store: gateway.store, secrets: gateway.settings().secrets }, lines),
});
