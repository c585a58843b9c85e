import type { Kysely, Selectable } from 'kysely';
import type { AuditAction, AuditEntry, AuditStore } from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

export function sqlAudit(db: Kysely<Database>): AuditStore {
  return {
    append: (entry) => guarded('Writing the audit log', () => appendEntry(db, entry)),

    list: ({ limit, action, subject, before }) =>
      guarded('Reading the audit log', async () => {
        let query = db.selectFrom('audit_log').selectAll().orderBy('seq', 'desc').limit(limit);
        if (action !== undefined) query = query.where('action', '=', action);
        if (subject !== undefined) query = query.where('subject', '=', text(subject));
        if (before !== undefined) query = query.where('seq', '<', before);
        return (await query.execute()).map(fromRow);
      }),
  };
}

/** For changes that stand in the log as of the same commit. */
export async function appendEntry(db: Kysely<Database>, entry: Omit<AuditEntry, 'seq'>): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      at: entry.at,
      actor: text(entry.actor),
      action: entry.action,
      subject: text(entry.subject),
      hash: textOrNull(entry.hash),
      details: json(entry.details),
    })
    .execute();
}

function fromRow(row: Selectable<Database['audit_log']>): AuditEntry {
  return {
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    action: row.action as AuditAction,
    subject: row.subject,
    hash: row.hash,
    details: row.details as AuditEntry['details'],
  };
}
