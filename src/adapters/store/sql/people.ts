import { type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import {
  type KeyRole,
  type KeyScope,
  USAGE_SPANS,
  type UsageLimit,
  type UsageSpan,
} from '../../../core/vocabulary/principal.ts';
import {
  type ApiKey,
  type AuditAction,
  type AuditEntry,
  type AuditStore,
  exceeded,
  type KeyStore,
  keyCreated,
  keyRevoked,
  type OAuthRecord,
  type OAuthStore,
  scopeChanged,
  type Usage,
  type UsageOrder,
  type UsageStore,
  windowStart,
} from '../../../engine/ports.ts';
import type { Database } from '../database.ts';
import { guarded, json, text, textOrNull } from './codec.ts';

export function sqlKeys(db: Kysely<Database>): KeyStore {
  const where = (column: 'id' | 'hash', value: string) =>
    guarded('Reading a key', async () => {
      const row = await db.selectFrom('api_key').selectAll().where(column, '=', value).executeTakeFirst();
      return row ? fromRow(row) : null;
    });

  const change = (
    idOrName: string,
    set: Updateable<Database['api_key']>,
    entryOf: (key: ApiKey) => Omit<AuditEntry, 'seq'>,
  ) =>
    guarded(`Changing key "${idOrName}"`, () =>
      db.transaction().execute(async (tx) => {
        const row = await tx
          .updateTable('api_key')
          .set(set)
          .where((e) => e.or([e('id', '=', idOrName), e('name', '=', idOrName)]))
          .where('revoked_at', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (!row) return null;
        const key = fromRow(row);
        await appendEntry(tx, entryOf(key));
        return key;
      }),
    );

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
      change(idOrName, { revoked_at: at, revoked_by: text(by) }, (key) => keyRevoked(key, by, at)),
    setScope: (idOrName, scope, by, at) =>
      change(idOrName, { scope: json(scope) }, (key) => scopeChanged(key, by, at)),
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
    scope: json(key.scope),
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
    ...(row.scope !== null && { scope: row.scope as KeyScope }),
  };
}

/** Instead of a span. */
const LAST_USE = 'last';

/** Undoes what was added to a window before a later one turned out to be full. */
class Full extends Error {
  readonly limit: UsageLimit;

  constructor(limit: UsageLimit) {
    super('A limit is reached');
    this.limit = limit;
  }
}

export function sqlUsage(db: Kysely<Database>): UsageStore {
  const add = async (
    tx: Kysely<Database>,
    { keyId, at, amount }: UsageOrder,
    spans: readonly UsageSpan[],
  ): Promise<readonly (Usage & { readonly per: UsageSpan })[]> => {
    // In one order, so that no two wait for each other.
    const wanted = USAGE_SPANS.filter((span) => spans.includes(span));
    const rows = await tx
      .insertInto('key_usage')
      .values(wanted.map((span) => ({ key_id: keyId, span, started_at: windowStart(span, at), ...amount })))
      .onConflict((oc) =>
        oc.columns(['key_id', 'span', 'started_at']).doUpdateSet((eb) => ({
          calls: sql`greatest(0, key_usage.calls + ${eb.ref('excluded.calls')})`,
          tokens: sql`greatest(0, key_usage.tokens + ${eb.ref('excluded.tokens')})`,
          seconds: sql`greatest(0, key_usage.seconds + ${eb.ref('excluded.seconds')})`,
        })),
      )
      .returningAll()
      .execute();
    return rows.map(({ span, calls, tokens, seconds }) => ({
      per: span as UsageSpan,
      calls,
      tokens,
      seconds,
    }));
  };

  return {
    reserve: (reservation) =>
      guarded('Counting a call', async () => {
        const spans = reservation.limits.map(({ per }) => per);
        if (spans.length === 0) return null;
        try {
          await db.transaction().execute(async (tx) => {
            const limit = exceeded(reservation, await add(tx, reservation, spans));
            if (limit) throw new Full(limit);
          });
          return null;
        } catch (error) {
          if (error instanceof Full) return error.limit;
          throw error;
        }
      }),
    correct: (order, spans) =>
      guarded('Counting a call', async () => {
        if (spans.length > 0) await add(db, order, spans);
      }),
    read: (keyId, at) =>
      guarded('Reading what a key has used', async () => {
        const rows = await db.selectFrom('key_usage').selectAll().where('key_id', '=', keyId).execute();
        return USAGE_SPANS.flatMap((per) => {
          const start = windowStart(per, at).getTime();
          const row = rows.find(({ span, started_at }) => span === per && started_at.getTime() === start);
          if (!row) return [];
          const { calls, tokens, seconds, started_at: startedAt } = row;
          return [{ per, startedAt, calls, tokens, seconds }];
        });
      }),
    prune: (before) =>
      guarded('Forgetting what keys have used', async () => {
        await db
          .deleteFrom('key_usage')
          .where('started_at', '<', before)
          .where('span', '!=', LAST_USE)
          .execute();
      }),
    noteUse: (keyId, at) =>
      guarded('Noting that a key was used', () =>
        db.transaction().execute(async (tx) => {
          const nothing = { calls: 0, tokens: 0, seconds: 0 };
          await tx
            .insertInto('key_usage')
            .values({ key_id: keyId, span: LAST_USE, started_at: at, ...nothing })
            .onConflict((oc) => oc.columns(['key_id', 'span', 'started_at']).doNothing())
            .execute();
          await tx
            .deleteFrom('key_usage')
            .where('key_id', '=', keyId)
            .where('span', '=', LAST_USE)
            .where('started_at', '<', at)
            .execute();
        }),
      ),
    lastUses: () =>
      guarded('Reading when keys were used', async () => {
        const rows = await db
          .selectFrom('key_usage')
          .select(({ fn }) => ['key_id', fn.max('started_at').as('at')])
          .where('span', '=', LAST_USE)
          .groupBy('key_id')
          .execute();
        return new Map(rows.map((row) => [row.key_id, row.at]));
      }),
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
