import { z } from 'zod';
import type { ChildMessage } from './messages.ts';

const number = z.int().nonnegative();
const moment = z.number();
const name = z.string().max(256);
const text = z.string().max(16_384);

const failure = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('thrown'),
    name: text,
    message: text,
    position: z.strictObject({ file: text, line: number, column: number }).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('limit'),
    limit: z.enum(['memory', 'cpu', 'wall', 'calls', 'arguments', 'result', 'console']),
    message: text,
  }),
  z.strictObject({ kind: z.enum(['stuck', 'no_data', 'cancelled', 'crashed']), message: text }),
]);

const mark = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('operation'),
    site: number,
    startedAt: moment,
    endedAt: moment,
    success: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('decision'), site: number, taken: z.string().max(256), at: moment }),
]);

const message = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('tool'), frame: number, call: number, server: name, tool: name }),
  z.strictObject({ type: z.literal('enter'), frame: number, call: number, slug: name }),
  z.strictObject({
    type: z.literal('leave'),
    frame: number,
    at: z.number(),
    failure: failure.exactOptional(),
  }),
  z.strictObject({ type: z.literal('marks'), marks: z.array(z.tuple([number, mark])).max(1_000) }),
  z.strictObject({ type: z.literal('print'), level: z.enum(['log', 'info', 'warn', 'error', 'debug']) }),
  z.strictObject({
    type: z.literal('end'),
    failure: failure.exactOptional(),
    cpuMs: moment,
    truncated: z.boolean(),
  }),
]);

/** A child runs what nobody trusts, so it is not trusted itself: what it says has one of these forms, or it is ended. */
export function readMessage(head: unknown): ChildMessage | null {
  const { success, data } = message.safeParse(head);
  return success ? data : null;
}
