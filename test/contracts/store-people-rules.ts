import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { FULL_SCOPE } from '../../src/core/vocabulary/principal.ts';
import type { ApiKey, OAuthRecord, Store } from '../../src/engine/ports.ts';
import { sampleApproval, sampleRun, sampleTrace } from '../support/samples.ts';
import { conflict } from './store-conflict.ts';

const AT = new Date('2026-11-15T10:20:30.456Z');

function sampleKey(over: Partial<ApiKey> = {}): ApiKey {
  const id = randomUUID();
  return {
    id,
    name: `laptop-${id}`,
    user: 'ada',
    role: 'agent',
    hash: id.replaceAll('-', '').repeat(2),
    createdAt: AT,
    createdBy: 'root',
    revokedAt: null,
    revokedBy: null,
    ...over,
  };
}

export function peopleRules(store: () => Store): void {
  test('[KEY-1] a key is found by hash and id, listed oldest first, and its name is unique', async () => {
    const [first, second] = [sampleKey(), sampleKey({ role: 'viewer', user: 'bob' })];
    await store().keys.create(first);
    await store().keys.create(second);
    expect(await store().keys.findByHash(first.hash)).toEqual(first);
    expect(await store().keys.get(second.id)).toEqual(second);
    expect(await store().keys.findByHash('none')).toBeNull();
    const listed = (await store().keys.list()).filter(({ id }) => id === first.id || id === second.id);
    expect(listed).toEqual([first, second]);
    await expect(store().keys.create(sampleKey({ name: first.name }))).rejects.toEqual(conflict);
  });

  test('[KEY-1] a revoked key stays known as revoked, and its name is free again', async () => {
    const key = sampleKey();
    await store().keys.create(key);
    const later = new Date('2026-11-16T00:00:00Z');
    const revoked = { ...key, revokedAt: later, revokedBy: 'eve' };
    expect(await store().keys.revoke(key.name, 'eve', later)).toEqual(revoked);
    expect(await store().keys.revoke(key.id, 'eve', later)).toBeNull();
    expect(await store().keys.findByHash(key.hash)).toEqual(revoked);
    await store().keys.create(sampleKey({ name: key.name }));
  });

  test('[SCOPE-1] a scope is stored with its key, changed and removed, each time with an entry in the audit log', async () => {
    const scope = { ...FULL_SCOPE, tools: { allow: ['disk:*'], deny: ['disk:write'] }, loops: 8 };
    const key = sampleKey({ scope });
    await store().keys.create(key);
    expect(await store().keys.get(key.id)).toEqual(key);
    const wider = { ...FULL_SCOPE, limits: [{ unit: 'calls', per: 'hour', most: 9 }] } as const;
    expect(await store().keys.setScope(key.name, wider, 'eve', AT)).toEqual({ ...key, scope: wider });
    const { scope: _, ...bare } = key;
    expect(await store().keys.setScope(key.id, null, 'eve', AT)).toEqual(bare);
    expect(await store().keys.get(key.id)).toEqual(bare);
    const log = await store().audit.list({ limit: 9, subject: key.id });
    expect(log.map(({ action, details }) => [action, details.scope])).toEqual([
      ['scope_changed', null],
      ['scope_changed', wider],
      ['key_created', scope],
    ]);
    await store().keys.revoke(key.id, 'eve', AT);
    expect(await store().keys.setScope(key.id, wider, 'eve', AT)).toBeNull();
  });

  test('[SCOPE-4] of 64 parallel calls no more are counted than every limit allows', async () => {
    const [keyId, at] = [randomUUID(), new Date('2026-11-15T10:59:59Z')];
    const limits = [
      { unit: 'calls', per: 'day', most: 40 },
      { unit: 'calls', per: 'hour', most: 10 },
    ] as const;
    const one = { calls: 1, tokens: 0, seconds: 0 };
    const reserve = (moment: Date) => store().usage.reserve({ keyId, at: moment, amount: one, limits });
    const made = await Promise.all(Array.from({ length: 64 }, () => reserve(at)));
    expect(made.filter((limit) => limit === null)).toHaveLength(10);
    expect(made.find((limit) => limit !== null)).toEqual(limits[1]);
    // What was refused counts nowhere.
    expect(await store().usage.read(keyId, at)).toMatchObject([
      { per: 'hour', calls: 10, startedAt: new Date('2026-11-15T10:00:00Z') },
      { per: 'day', calls: 10, startedAt: new Date('2026-11-15T00:00:00Z') },
    ]);
    expect(await reserve(new Date('2026-11-15T11:00:00Z'))).toBeNull();
    await store().usage.prune(new Date('2026-11-15T11:00:00Z'));
    expect(await store().usage.read(keyId, at)).toEqual([]);
  });

  test('[KEY-21] the last use of each key is stored, also when the traces of its use are forgotten', async () => {
    const [ada, ci] = [randomUUID(), randomUUID()];
    const [early, late] = [new Date('2026-11-15T10:00:00Z'), new Date('2026-11-15T11:00:00Z')];
    await Promise.all([early, late, late].map((at) => store().usage.noteUse(ada, at)));
    await store().usage.noteUse(ci, early);
    await store().usage.prune(new Date('2026-11-16T00:00:00Z'));
    const uses = await store().usage.lastUses();
    expect([uses.get(ada), uses.get(ci), uses.get(randomUUID())]).toEqual([late, early, undefined]);
    expect(await store().usage.read(ada, late)).toEqual([]);
  });

  test('[SCOPE-5] an unused reservation is free again, and use beyond the reservation is counted', async () => {
    const [keyId, at] = [randomUUID(), AT];
    const limits = [{ unit: 'tokens', per: 'hour', most: 100 }] as const;
    const order = { keyId, at, amount: { calls: 1, tokens: 60, seconds: 0 }, limits };
    expect([await store().usage.reserve(order), await store().usage.reserve(order)]).toEqual([null, null]);
    expect(await store().usage.reserve(order)).toEqual(limits[0]);
    await store().usage.correct({ keyId, at, amount: { calls: 0, tokens: -70, seconds: 2.5 } }, ['hour']);
    expect(await store().usage.read(keyId, at)).toMatchObject([{ calls: 2, tokens: 50, seconds: 2.5 }]);
  });

  test('[SCOPE-7] a run keeps the key and the scope that it started with', async () => {
    const begunWith = { keyId: randomUUID(), scope: FULL_SCOPE };
    const run = sampleRun({ begunWith });
    await store().runs.create(run);
    expect(await store().runs.get(run.id)).toEqual(run);
  });

  test('[AUDIT-1] created and revoked keys and decided approvals are in the audit log, with who, when, what and hash', async () => {
    const key = sampleKey();
    await store().keys.create(key);
    await store().keys.revoke(key.id, 'eve', AT);
    const details = { name: key.name, user: 'ada', role: 'agent' };
    const common = { seq: expect.any(Number), at: AT, subject: key.id, hash: null, details };
    expect(await store().audit.list({ limit: 9, subject: key.id })).toEqual([
      { ...common, action: 'key_revoked', actor: 'eve' },
      { ...common, action: 'key_created', actor: 'root' },
    ]);
    const approval = sampleApproval({ runId: randomUUID() });
    await store().approvals.request(approval);
    await store().approvals.settle(approval.id, 'approved', 'ana', AT);
    await store().approvals.settle(approval.id, 'rejected', 'bob', AT);
    expect(await store().audit.list({ limit: 9, subject: approval.runId })).toEqual([
      {
        seq: expect.any(Number),
        at: AT,
        actor: 'ana',
        action: 'approved',
        subject: approval.runId,
        hash: approval.argumentsHash,
        details: { node: approval.node, approval_id: approval.id },
      },
    ]);
  });

  test('[AUDIT-1] the audit log is read newest first, page by page and by action', async () => {
    const subject = randomUUID();
    for (const action of ['edited', 'policy_changed', 'edited'] as const) {
      await store().audit.append({ at: AT, actor: 'ana', action, subject, hash: 'h', details: { n: 1 } });
    }
    const all = await store().audit.list({ limit: 9, subject });
    expect(all.map(({ action }) => action)).toEqual(['edited', 'policy_changed', 'edited']);
    expect(all[0]!.seq).toBeGreaterThan(all[1]!.seq);
    expect(await store().audit.list({ limit: 1, subject, before: all[1]!.seq })).toEqual([all[2]]);
    expect(await store().audit.list({ limit: 9, subject, action: 'policy_changed' })).toEqual([all[1]]);
  });

  test("[KEY-6] a list of runs or traces for one user has shared ones and the user's own", async () => {
    const user = randomUUID();
    const mine = { owner: user, visibility: 'private' } as const;
    const theirs = { owner: randomUUID(), visibility: 'private' } as const;
    const traces = [sampleTrace(mine), sampleTrace(theirs), sampleTrace({ owner: null })];
    await store().traces.appendAll(traces);
    const seen = await store().traces.list({ limit: 2, visibleTo: user });
    expect(seen.map(({ id }) => id)).toEqual([traces[2]!.id, traces[0]!.id]);
    expect(seen[1]).toEqual(traces[0]);
    const runs = [sampleRun(mine), sampleRun(theirs), sampleRun()];
    for (const run of runs) await store().runs.create(run);
    expect((await store().runs.list(2, user)).map(({ id }) => id)).toEqual([runs[2]!.id, runs[0]!.id]);
    expect((await store().runs.list(2)).map(({ id }) => id)).toEqual([runs[2]!.id, runs[1]!.id]);
  });

  test('[OAUTH-9] OAuth records are replaced, listed oldest first, removed with their grant, and swept', async () => {
    const kind = `Kind-${randomUUID()}`;
    const grantId = randomUUID();
    const record = (id: string, over: Partial<OAuthRecord> = {}): OAuthRecord => ({
      kind,
      id,
      grantId: null,
      payload: { name: 'Ada\u2400', list: [1] },
      expiresAt: new Date('2126-01-01T00:00:00.000Z'),
      consumedAt: null,
      ...over,
    });
    const { oauth } = store();
    await oauth.put(record('a', { grantId }));
    await oauth.put(record('b', { expiresAt: new Date('2020-01-01T00:00:00.000Z') }));
    await oauth.put(record('c', { grantId }));
    await oauth.put(record('a', { grantId, payload: { changed: true } }));
    expect(await oauth.get(kind, 'a')).toEqual(record('a', { grantId, payload: { changed: true } }));
    expect((await oauth.list(kind)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(await oauth.get(kind, 'none')).toBeNull();
    await oauth.sweep(AT);
    expect(await oauth.get(kind, 'b')).toBeNull();
    expect(await oauth.removeGrant(grantId)).toBe(true);
    expect(await oauth.removeGrant(grantId)).toBe(false);
    expect(await oauth.list(kind)).toEqual([]);
    await oauth.put(record('d'));
    await oauth.remove(kind, 'd');
    expect(await oauth.get(kind, 'd')).toBeNull();
  });

  test('[OAUTH-8] of many that consume a record at once, one succeeds', async () => {
    const record = { kind: 'Code', id: randomUUID(), grantId: null, payload: {}, consumedAt: null };
    await store().oauth.put({ ...record, expiresAt: new Date('2126-01-01T00:00:00.000Z') });
    const taken = await Promise.all(
      Array.from({ length: 8 }, () => store().oauth.consume('Code', record.id, AT)),
    );
    expect(taken.filter(Boolean)).toEqual([true]);
    expect((await store().oauth.get('Code', record.id))?.consumedAt).toEqual(AT);
    expect(await store().oauth.consume('Code', 'none', AT)).toBe(false);
  });
}
