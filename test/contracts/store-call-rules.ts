import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { operationId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { ErrorType, TraceEvent } from '../../src/core/vocabulary/trace-event.ts';
import type { CallFilter, CallStore, Store } from '../../src/engine/ports.ts';
import { sampleApproval, sampleTrace } from '../support/samples.ts';

interface MadeCall {
  readonly tool: string;
  readonly ms?: number;
  readonly errorType?: ErrorType;
  readonly error?: string;
  readonly result?: unknown;
}

/** Calls one after the other on a server of this name; an operation of the program between any two. */
export function eventsOf(server: string, calls: readonly MadeCall[]): TraceEvent[] {
  return calls.flatMap(({ tool, ms = 1, errorType, error, result }, index): TraceEvent[] => {
    const base = { traceId: `c${index}`, parentTraceId: null, node: toolId(server, tool) };
    const step = { traceId: `o${index}`, parentTraceId: null, node: operationId('map') };
    const outcome = { success: errorType === undefined, durationMs: ms };
    return [
      { ...step, type: 'tool_start', ts: index * 10 },
      { ...step, type: 'tool_end', ts: index * 10, success: true, durationMs: 0 },
      { ...base, type: 'tool_start', ts: index * 10, args: { nth: index } },
      {
        ...base,
        type: 'tool_end',
        ts: index * 10 + ms,
        ...outcome,
        ...(errorType && { errorType }),
        ...(error !== undefined && { error }),
        ...(result !== undefined && { result }),
      },
    ];
  });
}

/** Everything that a filter finds, one call per page. */
export async function everyPage(
  calls: CallStore,
  filter: CallFilter,
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const rows: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await calls.list(filter, 1, after);
    rows.push(...page.calls.map(({ traceId, id }) => `${traceId} ${id}`));
    if (page.next === null) return rows;
    after = page.next;
    await between();
  }
}

export function callRules(store: () => Store): void {
  /** Three runs: ada's shared one of two calls, bob's private one, and one that failed later. */
  async function fill() {
    const server = `s${randomUUID().slice(0, 8)}`;
    const run = (at: string, over: object, calls: readonly MadeCall[]) =>
      sampleTrace({ sessionId: server, executedAt: new Date(at), events: eventsOf(server, calls), ...over });
    const traces = [
      run('2033-01-01T00:00:00Z', { owner: 'ada' }, [
        { tool: 'read', ms: 3, result: 'lone \ud800 and zero \u0000' },
        { tool: 'write', ms: 700 },
      ]),
      run('2033-01-02T00:00:00Z', { owner: 'bob', visibility: 'private' }, [{ tool: 'read', ms: 5 }]),
      run('2033-01-03T00:00:00Z', { owner: 'ada' }, [
        { tool: 'read', ms: 7, errorType: 'TIMEOUT', error: 'Took 100% of its time' },
      ]),
    ];
    await store().traces.appendAll(traces);
    const found = async (filter: CallFilter, limit = 50) =>
      (await store().calls.list({ server, ...filter }, limit)).calls.map(
        ({ tool, traceId }) => `${traces.findIndex(({ id }) => id === traceId)} ${tool.split(':')[1]}`,
      );
    return { server, traces, found };
  }

  test('[CALLS-1] every tool call is a row with its run, time, size and outcome; operations are not rows', async () => {
    const { server, traces } = await fill();
    const { calls, next } = await store().calls.list({ server }, 50);
    expect(next).toBeNull();
    expect(calls).toHaveLength(4);
    expect(calls[0]).toEqual({
      id: 'c0',
      tool: `${server}:read`,
      traceId: traces[2]!.id,
      runId: traces[2]!.runId,
      sessionId: server,
      intentText: traces[2]!.intentText,
      owner: 'ada',
      startedAt: new Date('2033-01-03T00:00:00Z'),
      durationMs: 7,
      success: false,
      errorType: 'TIMEOUT',
      error: 'Took 100% of its time',
      sent: '{"nth":0}'.length,
      received: null,
      approval: null,
    });
    const { calls: firstRun } = await store().calls.list({ runId: traces[0]!.runId }, 50);
    expect(firstRun.map(({ tool, startedAt }) => [tool, startedAt.getUTCMilliseconds()])).toEqual([
      [`${server}:write`, 10],
      [`${server}:read`, 0],
    ]);
    expect(firstRun[1]?.received).toBe(JSON.stringify('lone \ud800 and zero \u0000').length);
  });

  test('[CALLS-2] calls are found by tool, server, outcome, words, person, run, session, time, duration and size', async () => {
    const { server, traces, found } = await fill();
    const all = ['2 read', '1 read', '0 write', '0 read'];
    expect(await found({})).toEqual(all);
    expect(await found({ tool: `${server}:write` })).toEqual(['0 write']);
    expect(await found({ tool: `${server}:writ` })).toEqual([]);
    expect(await found({ server: server.slice(0, -1) })).toEqual([]);
    expect(await found({ success: false })).toEqual(['2 read']);
    expect(await found({ success: true })).toEqual(all.slice(1));
    expect(await found({ errorType: 'TIMEOUT' })).toEqual(['2 read']);
    expect(await found({ errorType: 'NETWORK' })).toEqual([]);
    expect(await found({ text: 'took 100%' })).toEqual(['2 read']);
    expect(await found({ text: 't%k' })).toEqual([]);
    expect(await found({ owner: 'bob' })).toEqual(['1 read']);
    expect(await found({ runId: traces[1]!.runId })).toEqual(['1 read']);
    expect(await found({ sessionId: server, tool: `${server}:write` })).toEqual(['0 write']);
    expect(await found({ sessionId: randomUUID() })).toEqual([]);
    expect(await found({ since: new Date('2033-01-02T00:00:00Z') })).toEqual(['2 read', '1 read']);
    expect(await found({ until: new Date('2033-01-02T00:00:00Z') })).toEqual(['0 write', '0 read']);
    expect(await found({ minMs: 6 })).toEqual(['2 read', '0 write']);
    expect(await found({ minBytes: 20 })).toEqual(['0 read']);
  });

  test('[CALLS-3] calls of private runs are listed and counted for their owner only', async () => {
    const { server, found } = await fill();
    expect(await found({ visibleTo: 'ada' })).toEqual(['2 read', '0 write', '0 read']);
    expect(await found({ visibleTo: 'bob' })).toHaveLength(4);
    const { groups } = await store().calls.group({ server, visibleTo: 'eve' }, 'tool');
    expect(groups.map(({ calls }) => calls)).toEqual([2, 1]);
  });

  test('[CALLS-4] pages have no gaps or repeats, even when calls arrive in between', async () => {
    const { server, found } = await fill();
    const filters: CallFilter[] = [{ server }, { server, success: true }, { server, owner: 'ada' }];
    for (const filter of filters) {
      const whole = await store().calls.list(filter, 50);
      const later = eventsOf(server, [{ tool: 'later' }]);
      const rows = await everyPage(store().calls, filter, () =>
        store().traces.append(sampleTrace({ executedAt: new Date('2034-01-01T00:00:00Z'), events: later })),
      );
      expect(rows).toEqual(whole.calls.map(({ traceId, id }) => `${traceId} ${id}`));
    }
    expect((await found({})).length).toBeGreaterThan(4);
    await expect(store().calls.list({}, 1, 'nonsense')).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('[CALLS-5] calls are counted by tool or error, with failures and durations', async () => {
    const { server } = await fill();
    const byTool = await store().calls.group({ server }, 'tool');
    expect(byTool.since).toBeNull();
    expect(byTool.groups[0]).toMatchObject({
      key: `${server}:read`,
      calls: 3,
      failed: 1,
      medianMs: 5,
      newest: new Date('2033-01-03T00:00:00Z'),
    });
    expect(byTool.groups[0]!.p95Ms).toBeCloseTo(6.8, 3);
    const { groups } = await store().calls.group({ server }, 'error');
    expect(groups.map(({ key, calls }) => [key, calls])).toEqual([
      [null, 3],
      ['TIMEOUT', 1],
    ]);
  });

  test('[CALLS-6] a call shows what a person decided about it, and is deleted when its run is forgotten', async () => {
    const { server, traces, found } = await fill();
    const approval = sampleApproval({ runId: traces[0]!.runId, node: toolId(server, 'write') });
    await store().approvals.request(approval);
    await store().approvals.settle(approval.id, 'approved', 'ada', new Date('2033-01-01T00:00:00Z'));
    const { calls } = await store().calls.list({ tool: `${server}:write` }, 1);
    expect(calls[0]?.approval).toEqual({ state: 'approved', settledBy: 'ada' });
    expect(await found({ asked: true })).toEqual(['0 write']);
    await store().traces.remove([traces[0]!.id], { unfinishedRuns: true });
    expect(await found({})).toEqual(['2 read', '1 read']);
  });
}
