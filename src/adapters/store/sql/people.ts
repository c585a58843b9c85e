import type { Kysely, Selectable } from 'kysely';
import type { KeyRole } from '../../../core/vocabulary/principal.ts';
import {
  type ApiKey,
  type AuditAction,
  type AuditEntry,
  type AuditStore,
  type KeyStore,
  keyCreated,
  keyRevoked,
  type OAuthRecord,
  type OAuthStore,
} from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

export function sqlKeys(db: Kysely<Database>): KeyStore {
  const where = (column: 'id' | 'hash', value: string) =>
    guarded('Reading a key', async () => {
      const row = await db.selectFrom('api_key').selectAll().where(column, '=', value).executeTakeFirst();
      return row ? fromRow(row) : null;
    });

  return {
    get: (id) => where('id', id),
    findByHash: (hash) => where('hash', hash),

    create: (key) =>
      guarded(`Storing key "${key.name}"`, () =>
        db.transaction().execute(async (tx) => {
          await tx.insertInto('api_key').values(toRow(key)).execute();
          await appendEntry(tx, keyCreated(key));
        }),
      ),

    list: () =>
      guarded('Listing keys', async () =>
        (await db.selectFrom('api_key').selectAll().orderBy('seq').execute()).map(fromRow),
      ),

    revoke: (idOrName, by, at) =>
      guarded(`Revoking key "${idOrName}"`, () =>
        db.transaction().execute(async (tx) => {
          const row = await tx
            .updateTable('api_key')
            .set({ revoked_at: at, revoked_by: text(by) })
            .where((e) => e.or([e('id', '=', idOrName), e('name', '=', idOrName)]))
            .where('revoked_at', 'is', null)
            .returningAll()
            .executeTakeFirst();
          if (!row) return null;
          const key = fromRow(row);
          await appendEntry(tx, keyRevoked(key, by, at));
          return key;
        }),
      ),
  };
}

function toRow(key: ApiKey) {
  return {
    id: key.id,
    name: text(key.name),
    user_name: text(key.user),
    role: key.role,
    hash: key.hash,
    created_at: key.createdAt,
    created_by: text(key.createdBy),
    revoked_at: key.revokedAt,
    revoked_by: key.revokedBy,
  };
}

function fromRow(row: Selectable<Database['api_key']>): ApiKey {
  return {
    id: row.id,
    name: row.name,
    user: row.user_name,
    role: row.role as KeyRole,
    hash: row.hash,
    createdAt: row.created_at,
    createdBy: row.created_by,
    revokedAt: row.revoked_at,
    revokedBy: row.revoked_by,
  };
}

export function sqlAudit(db: Kysely<Database>): AuditStore {
  return {
    append: (entry) => guarded('Writing the audit log', () => appendEntry(db, entry)),

    list: ({ limit, action, subject, before }) =>
      guarded('Reading the audit log', async () => {
        let query = db.selectFrom('audit_log').selectAll().orderBy('seq', 'desc').limit(limit);
        if (action !== undefined) query = query.where('action', '=', action);
        if (subject !== undefined) query = query.where('subject', '=', text(subject));
        if (before !== undefined) query = query.where('seq', '<', before);
        return (await query.execute()).map(toAuditEntry);
      }),
  };
}

/** For changes that must be logged in the same commit. */
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

function toAuditEntry(row: Selectable<Database['audit_log']>): AuditEntry {
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

export function sqlOAuth(db: Kysely<Database>): OAuthStore {
  return {
    put: (record) =>
      guarded('Storing an OAuth record', async () => {
        const changed = {
          grant_id: textOrNull(record.grantId),
          payload: json(record.payload),
          expires_at: record.expiresAt,
          consumed_at: record.consumedAt,
        };
        await db
          .insertInto('oauth_record')
          .values({ kind: record.kind, id: text(record.id), ...changed })
          .onConflict((c) => c.columns(['kind', 'id']).doUpdateSet(changed))
          .execute();
      }),

    get: (kind, id) =>
      guarded('Reading an OAuth record', async () => {
        const row = await db
          .selectFrom('oauth_record')
          .selectAll()
          .where('kind', '=', kind)
          .where('id', '=', text(id))
          .executeTakeFirst();
        return row ? toOAuthRecord(row) : null;
      }),

    list: (kind) =>
      guarded('Listing OAuth records', async () =>
        (
          await db.selectFrom('oauth_record').selectAll().where('kind', '=', kind).orderBy('seq').execute()
        ).map(toOAuthRecord),
      ),

    consume: (kind, id, at) =>
      guarded('Using up an OAuth record', async () => {
        const row = await db
          .updateTable('oauth_record')
          .set({ consumed_at: at })
          .where('kind', '=', kind)
          .where('id', '=', text(id))
          .where('consumed_at', 'is', null)
          .returning('seq')
          .executeTakeFirst();
        return row !== undefined;
      }),

    remove: (kind, id) =>
      guarded('Removing an OAuth record', async () => {
        await db.deleteFrom('oauth_record').where('kind', '=', kind).where('id', '=', text(id)).execute();
      }),

    removeGrant: (grantId) =>
      guarded('Removing an OAuth grant', async () => {
        const gone = await db
          .deleteFrom('oauth_record')
          .where('grant_id', '=', text(grantId))
          .returning('seq')
          .execute();
        return gone.length > 0;
      }),

    sweep: (before) =>
      guarded('Removing expired OAuth records', async () => {
        await db.deleteFrom('oauth_record').where('expires_at', '<', before).execute();
      }),
  };
}

function toOAuthRecord(row: Selectable<Database['oauth_record']>): OAuthRecord {
  return {
    kind: row.kind,
    id: row.id,
    grantId: row.grant_id,
    payload: row.payload as OAuthRecord['payload'],
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
  };
}
