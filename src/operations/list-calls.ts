import { z } from 'zod';
import { visibleTo } from '../engine/people/roles.ts';
import { count } from './input-fields.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { CALL_QUERY, call, callFilter, callToWire, filterOf, type WireCall } from './shapes/call.ts';

/** A file holds as many calls as one request may ask for. */
const DEFAULTS = { limit: 50, maxLimit: 5_000 };

export const listCalls = operation({
  name: 'list_calls',
  right: 'read',
  summary: 'Every tool call as a row, newest first, page by page',
  input: callFilter.extend({
    limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
    /** `next` of the previous page. */
    after: z.string().optional(),
  }),
  output: z.object({
    calls: z.array(call),
    /** Value of `after` for the next page, which there may be even where this one is short. */
    next: z.string().nullable(),
  }),
  http: {
    method: 'GET',
    path: '/calls',
    query: CALL_QUERY,
    files: { csv: { mediaType: 'text/csv; charset=utf-8', write: ({ calls }) => csvOf(calls) } },
  },
  async run({ gateway }, { limit, after, ...asked }, caller) {
    const filter = { ...filterOf(asked), ...visibleTo(askerOf(caller)) };
    const { calls, next } = await gateway.store.calls.list(filter, limit, after);
    return { calls: calls.map(callToWire), next };
  },
});

const COLUMNS = [
  'started_at',
  'tool',
  'success',
  'error_type',
  'error',
  'duration_ms',
  'tokens',
  'sent_bytes',
  'received_bytes',
  'user',
  'intent_text',
  'run_id',
  'trace_id',
  'session_id',
  'id',
] as const satisfies readonly (keyof WireCall)[];

/** RFC 4180. */
function csvOf(calls: readonly Pick<WireCall, (typeof COLUMNS)[number] | 'approval'>[]): string {
  const head = [...COLUMNS, 'approval', 'approved_by'].join(',');
  const rows = calls.map((made) =>
    [...COLUMNS.map((name) => made[name]), made.approval?.state, made.approval?.settled_by]
      .map(csvCell)
      .join(','),
  );
  return `${[head, ...rows].join('\r\n')}\r\n`;
}

/** A spreadsheet would run what begins like a formula, and what tools say is not to be trusted. */
function csvCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
