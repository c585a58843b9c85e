import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { EpisodicEvent, RankerParams, Store } from '../../src/engine/ports.ts';
import { sampleApproval, sampleRun } from '../support/samples.ts';
import { conflict } from './store-conflict.ts';

export function runRules(store: () => Store): void {
  test('[STORE-13] episodic events come back in the order they were stored', async () => {
    const workflowId = randomUUID();
    const events: EpisodicEvent[] = [
      'speculation_start',
      'task_complete',
      'ail_decision',
      'hil_decision',
    ].map((eventType, i) => ({
      id: randomUUID(),
      workflowId,
      eventType,
      taskId: i === 0 ? null : `t${i}`,
      timestamp: new Date(1_700_000_000_000 - i),
      data: { i, nested: ['\u0000'] },
    }));
    await store().episodes.append(events.slice(0, 2));
    await store().episodes.append(events.slice(2));
    await store().episodes.append([]);
    expect(await store().episodes.list(workflowId)).toEqual(events);
    await expect(store().episodes.append(events)).rejects.toEqual(conflict);
  });

  test('[STORE-14] a run is written only over the version that was read', async () => {
    const run = sampleRun();
    await store().runs.create(run);
    await expect(store().runs.create(run)).rejects.toEqual(conflict);
    const done = { ...run, version: 2, status: 'success' as const, plan: null };
    await store().runs.update(done);
    await expect(store().runs.update({ ...run, version: 2, status: 'aborted' })).rejects.toEqual(conflict);
    expect(await store().runs.get(run.id)).toEqual(done);
    expect((await store().runs.list(1)).map((r) => r.id)).toEqual([run.id]);
    expect(await store().runs.get('nobody')).toBeNull();
  });

  test('[STORE-15] the first decision on an approval stands', async () => {
    const [first, second] = [sampleApproval(), sampleApproval({ arguments: null })];
    await store().approvals.request(first);
    await store().approvals.request(second);
    const at = new Date('2026-02-02T02:02:02.002Z');
    expect(await store().approvals.settle(first.id, 'rejected', 'ana', at)).toBe(true);
    expect(await store().approvals.settle(first.id, 'approved', 'bob', at)).toBe(false);
    expect(await store().approvals.settle('nobody', 'approved', 'bob', at)).toBe(false);
    expect(await store().approvals.use(first.id)).toBe(false);
    const settled = { ...first, state: 'rejected', settledBy: 'ana', settledAt: at };
    expect(await store().approvals.get(first.id)).toEqual(settled);
    expect(await store().approvals.list({ runId: first.runId })).toEqual([settled]);
    const pending = await store().approvals.list({ state: 'pending' });
    expect(pending.filter((a) => a.id === second.id)).toEqual([second]);
    const { node, argumentsHash } = second;
    expect(await store().approvals.list({ node, argumentsHash })).toEqual([second]);
    expect(await store().approvals.list({ state: 'approved', node, argumentsHash })).toEqual([]);
    expect(await store().approvals.list({ node: toolId('nobody', 'write_file'), argumentsHash })).toEqual([]);
  });

  test('[STORE-25] an approval is used once', async () => {
    const approval = sampleApproval();
    await store().approvals.request(approval);
    expect(await store().approvals.use(approval.id)).toBe(false);
    await store().approvals.settle(approval.id, 'approved', 'ana', new Date(0));
    const uses = await Promise.all([1, 2, 3].map(() => store().approvals.use(approval.id)));
    expect(uses.filter(Boolean).length).toBe(1);
    expect((await store().approvals.get(approval.id))?.state).toBe('used');
  });

  test('[STORE-16] ranker parameters are stored per model, newest first, and can be rolled back', async () => {
    const model = `model-${randomUUID()}`;
    const saved = [1, 2].map((n): RankerParams => {
      const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * n) % 256);
      return { id: randomUUID(), model, bytes, metrics: { mrr: n / 10 }, createdAt: new Date(n) };
    });
    for (const params of saved) await store().rankerParams.save(params);
    expect(await store().rankerParams.list(model, 9)).toEqual([saved[1], saved[0]]);
    expect(await store().rankerParams.list(model, 1)).toEqual([saved[1]]);
    const plans = { ...saved[0]!, id: randomUUID(), model: `plans by ${model}` };
    await store().rankerParams.save(plans);
    expect(await store().rankerParams.list(plans.model, 9)).toEqual([plans]);
    expect(await store().rankerParams.list(model, 1)).toEqual([saved[1]]);
    expect(await store().rankerParams.remove(saved[1]!.id)).toBe(true);
    expect(await store().rankerParams.list(model, 9)).toEqual([saved[0]]);
  });
}
