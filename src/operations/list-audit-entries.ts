import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditEntry } from '../engine/ports.ts';
import { count } from './input-fields.ts';
import { operation } from './operation.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export const listAuditEntries = operation({
  name: 'list_audit_entries',
  right: 'manage',
  summary: 'The audit log, newest first, page by page',
  input: z.strictObject({
    limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
    action: z
      .enum(AUDIT_ACTIONS, {
        error: ({ input }) => `Unknown action "${input}"; known actions: ${AUDIT_ACTIONS.join(', ')}`,
      })
      .optional(),
    subject: z.string().optional(),
    /** `next` of the previous page. */
    before: z.int().min(1).optional(),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        seq: z.number(),
        at: z.string(),
        actor: z.string(),
        action: z.enum(AUDIT_ACTIONS),
        subject: z.string(),
        hash: z.string().nullable(),
        details: z.unknown(),
      }),
    ),
    /** Value of `before` for the next page. */
    next: z.number().nullable(),
  }),
  http: { method: 'GET', path: '/audit' },
  async run({ gateway }, { limit, action, subject, before }) {
    const entries = await gateway.people.audit({
      limit,
      ...(action !== undefined && { action }),
      ...(subject !== undefined && { subject }),
      ...(before !== undefined && { before }),
    });
    return {
      entries: entries.map(auditToWire),
      next: entries.length === limit ? (entries.at(-1)?.seq ?? null) : null,
    };
  },
});

function auditToWire({ at, ...entry }: AuditEntry) {
  return { ...entry, at: at.toISOString() };
}
