import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Store, StoredSuggestion, SuggestionOutcome } from '../../src/engine/ports.ts';
import { sampleTrace } from '../support/samples.ts';
import { planOf } from '../support/workflow-plan.ts';
import { conflict } from './store-conflict.ts';

const suggestion = (over: Partial<StoredSuggestion> = {}): StoredSuggestion => ({
  id: randomUUID(),
  sessionId: randomUUID(),
  intentText: 'tidy up \u{1F9F9}',
  plan: planOf([{ id: 'a', tool: 'disk:list', arguments: { path: '\u0000' } }]),
  confidence: 0.625,
  createdAt: new Date(1_700_000_000_123),
  outcome: null,
  ...over,
});

const outcome = (over: Partial<SuggestionOutcome> = {}): SuggestionOutcome => ({
  verdict: 'edited',
  runId: randomUUID(),
  left: ['disk:list'],
  came: [],
  moved: ['disk:read'],
  at: new Date(1_700_000_000_456),
  ...over,
});

export function suggestionRules(store: () => Store): void {
  test('[STORE-50] a suggestion comes back as it was put, and is stored once', async () => {
    const open = suggestion();
    const settled = suggestion({ sessionId: null, outcome: outcome({ runId: null }) });
    await store().suggestions.put(open);
    await store().suggestions.put(settled);
    expect(await store().suggestions.get(open.id)).toEqual(open);
    expect(await store().suggestions.get(settled.id)).toEqual(settled);
    expect(await store().suggestions.get(randomUUID())).toBeNull();
    await expect(store().suggestions.put(open)).rejects.toEqual(conflict);
  });

  test('[STORE-51] the first outcome of a suggestion stands', async () => {
    const one = suggestion();
    await store().suggestions.put(one);
    const first = outcome({ verdict: 'accepted', left: [], moved: [] });
    expect(await store().suggestions.settle(one.id, first)).toBe(true);
    expect(await store().suggestions.settle(one.id, outcome())).toBe(false);
    expect(await store().suggestions.settle(randomUUID(), outcome())).toBe(false);
    expect((await store().suggestions.get(one.id))?.outcome).toEqual(first);
  });

  test('[STORE-52] suggestions are listed by session while open, and when a tool was removed from them; all are counted', async () => {
    const before = await store().suggestions.counts();
    const sessionId = randomUUID();
    const all = [1, 2, 3].map(() => suggestion({ sessionId }));
    for (const one of [...all, suggestion()]) await store().suggestions.put(one);
    await store().suggestions.settle(all[1]!.id, outcome({ verdict: 'rejected' }));
    expect((await store().suggestions.open(sessionId, 5)).map(({ id }) => id)).toEqual([
      all[2]!.id,
      all[0]!.id,
    ]);
    expect(await store().suggestions.open(sessionId, 1)).toHaveLength(1);
    await store().suggestions.settle(all[0]!.id, outcome({ verdict: 'accepted', left: [] }));
    expect((await store().suggestions.doubted(1)).map(({ id }) => id)).toEqual([all[1]!.id]);
    const after = await store().suggestions.counts();
    expect({
      made: after.made - before.made,
      accepted: after.accepted - before.accepted,
      edited: after.edited - before.edited,
      rejected: after.rejected - before.rejected,
    }).toEqual({ made: 4, accepted: 1, edited: 0, rejected: 1 });
  });

  test('[STORE-53] a suggestion is deleted with its run', async () => {
    const trace = sampleTrace({ id: randomUUID(), runId: randomUUID() });
    const [its, other] = [
      suggestion({ outcome: outcome({ runId: trace.runId }) }),
      suggestion({ outcome: outcome() }),
    ];
    await store().traces.append(trace);
    for (const one of [its, other]) await store().suggestions.put(one);
    await store().traces.remove([trace.id]);
    expect(await store().suggestions.get(its.id)).toBeNull();
    expect(await store().suggestions.get(other.id)).toEqual(other);
  });

  test('[STORE-54] suggestions expire, except the newest with a removed tool, and stay counted', async () => {
    const at = (day: number, over: Partial<StoredSuggestion> = {}) =>
      suggestion({ createdAt: new Date(Date.UTC(2019, 0, day)), ...over });
    const trace = sampleTrace({ id: randomUUID(), runId: randomUUID(), executedAt: new Date('2019-01-03') });
    const accepted = outcome({ verdict: 'accepted', left: [], runId: trace.runId });
    const [open, taken, doubted, newerDoubted, young] = [
      at(1),
      at(2, { outcome: accepted }),
      at(3, { outcome: outcome() }),
      at(4, { outcome: outcome({ verdict: 'rejected', runId: trace.runId }) }),
      at(20),
    ];
    await store().traces.append(trace);
    for (const one of [open, taken, doubted, newerDoubted, young]) await store().suggestions.put(one);
    const counts = await store().suggestions.counts();

    const from = await store().rollup.traces();
    await store().rollup.fold({ edges: [], statistics: [], from, ids: [trace.id] });
    expect(await store().suggestions.get(taken.id)).toEqual(taken);
    expect(await store().suggestions.expire(young.createdAt, 1)).toBe(3);
    const left = await Promise.all(
      [open, taken, doubted, newerDoubted, young].map(({ id }) => store().suggestions.get(id)),
    );
    expect(left).toEqual([null, null, null, newerDoubted, young]);
    expect(await store().suggestions.expire(young.createdAt, 1)).toBe(0);
    expect(await store().suggestions.counts()).toEqual(counts);
  });
}
