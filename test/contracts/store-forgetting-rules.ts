import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Approval, Store, WorkflowRun } from '../../src/engine/ports.ts';
import { sampleApproval, sampleRun, sampleTrace } from '../support/samples.ts';

export function forgettingRules(store: () => Store): void {
  /** A run with everything stored about it; returns the ids of its traces. */
  const keep = async (runId: string, status: WorkflowRun['status'] | null, approval: Approval['state']) => {
    const traces = [sampleTrace({ runId }), sampleTrace({ runId })];
    await store().traces.appendAll(traces);
    if (status) await store().runs.create(sampleRun({ id: runId, status }));
    await store().approvals.request(sampleApproval({ runId, state: approval }));
    const event = {
      workflowId: runId,
      eventType: 'task_complete',
      taskId: null,
      timestamp: new Date(0),
      data: {},
    };
    await store().episodes.append([1, 2].map(() => ({ ...event, id: randomUUID() })));
    return traces.map(({ id }) => id);
  };
  const isKept = async (runId: string) => {
    const { runs, approvals, episodes } = store();
    const rows = [
      await runs.get(runId),
      ...(await approvals.list({ runId })),
      ...(await episodes.list(runId)),
    ];
    return rows.some((row) => row !== null);
  };

  test('[STORE-37] a trace is deleted with everything stored about its run, and nothing about others', async () => {
    const [gone, other] = [randomUUID(), randomUUID()];
    const [first, second] = await keep(gone, 'success', 'used');
    const ofOther = await keep(other, 'error', 'rejected');
    const removed = await store().traces.remove([first!, first!, 'no-such-trace']);
    expect(removed).toEqual({ traces: 1, unfinishedRuns: [] });
    expect([await isKept(gone), await isKept(other)]).toEqual([false, true]);
    expect(await store().traces.get(first!)).toBeNull();
    expect(await store().traces.get(second!)).not.toBeNull();
    expect((await store().traces.remove([second!, ...ofOther])).traces).toBe(3);
    expect(await isKept(other)).toBe(false);
    expect(await store().traces.remove([])).toEqual({ traces: 0, unfinishedRuns: [] });
  });

  test('[STORE-38] an unfinished run keeps its traces and the rest, unless it is deleted as well', async () => {
    const over = randomUUID();
    const ids = await keep(over, 'aborted', 'rejected');
    const unfinished = [randomUUID(), randomUUID(), randomUUID()].sort();
    ids.push(...(await keep(unfinished[0]!, 'paused', 'approved')));
    ids.push(...(await keep(unfinished[1]!, 'running', 'used')));
    ids.push(...(await keep(unfinished[2]!, null, 'pending')));

    expect(await store().traces.remove(ids)).toEqual({ traces: 2, unfinishedRuns: unfinished });
    expect(await isKept(over)).toBe(false);
    for (const runId of unfinished) expect(await isKept(runId)).toBe(true);
    const left = await Promise.all(ids.map((id) => store().traces.get(id)));
    expect(left.map((trace) => trace !== null)).toEqual([false, false, true, true, true, true, true, true]);

    expect(await store().traces.remove(ids, { unfinishedRuns: true })).toEqual({
      traces: 6,
      unfinishedRuns: [],
    });
    for (const runId of unfinished) expect(await isKept(runId)).toBe(false);
  });
}
