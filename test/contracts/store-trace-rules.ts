import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExecutionTrace, RUN_KINDS } from '../../src/core/vocabulary/execution-trace.ts';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { EndEvent } from '../../src/core/vocabulary/trace-event.ts';
import type { Store, TraceQuery } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { sampleCapability, sampleTrace } from '../support/samples.ts';
import { conflict } from './store-conflict.ts';

export function traceRules(store: () => Store): void {
  test('[STORE-8] a trace comes back exactly, in every column', async () => {
    const trace = sampleTrace();
    await store().traces.append(trace);
    expect(await store().traces.get(trace.id)).toEqual(trace);
    const bare = sampleTrace({
      sessionId: null,
      intentText: null,
      intentEmbedding: null,
      errorMessage: null,
      code: null,
      guest: null,
    });
    await store().traces.append(bare);
    expect(await store().traces.get(bare.id)).toEqual(bare);
    await expect(store().traces.append(trace)).rejects.toEqual(conflict);
  });

  test('[STORE-26] several traces are stored in order, all or none', async () => {
    const session = randomUUID();
    const traces = Array.from({ length: 3 }, () => sampleTrace({ sessionId: session }));
    await store().traces.appendAll(traces);
    await store().traces.appendAll([]);
    const twice = [sampleTrace({ sessionId: session }), traces[1]!];
    await expect(store().traces.appendAll(twice)).rejects.toEqual(conflict);
    const listed = await store().traces.list({ limit: 9, sessionId: session });
    expect(listed).toEqual(traces.toReversed());
  });

  test('[STORE-9] any JSON value survives in a trace: every character, every nesting', async () => {
    const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
    await fc.assert(
      fc.asyncProperty(value, async (result) => {
        const [start] = sampleTrace().events;
        const trace = sampleTrace({
          events: [{ ...start!, type: 'tool_end', success: true, durationMs: 1, result }],
        });
        await store().traces.append(trace);
        const stored = await store().traces.get(trace.id);
        // As JSON text, because minus zero has no JSON form; everything else is equal to the bit.
        expect(JSON.stringify((stored?.events[0] as EndEvent | undefined)?.result)).toBe(
          JSON.stringify(result),
        );
      }),
      { numRuns: proofRuns(300), seed: proofSeed() },
    );
  });

  test('[DASH-40] traces are found by their properties, calls, texts and times; no search text is a pattern', async () => {
    const sessionId = randomUUID();
    const server = `s${sessionId.slice(0, 8)}`;
    const read = toolId(server, 'read');
    const made = {
      tool: { executedPath: [read], taskResults: [], success: true, errorMessage: null, errorType: null },
      code: { code: 'return 1', executedPath: [], intentText: 'Count 100% of the İtems' },
      capability: {
        code: 'return 1',
        capabilityId: randomUUID(),
        executedAt: new Date('2026-05-01T00:00:00Z'),
      },
      workflow: { taskResults: [{ id: 'a' }], intentText: null },
    };
    const ids = new Map<string, string>();
    for (const [kind, over] of Object.entries(made)) {
      const trace = sampleTrace({ sessionId, code: null, ...over });
      ids.set(trace.id, kind);
      await store().traces.append(trace);
    }
    const found = async (query: Partial<TraceQuery>) =>
      (await store().traces.list({ limit: 9, sessionId, ...query })).map(({ id }) => ids.get(id));

    for (const kind of RUN_KINDS) expect(await found({ kind })).toEqual([kind]);
    expect(await found({ success: true })).toEqual(['tool']);
    expect(await found({ success: false, limit: 1 })).toEqual(['workflow']);
    expect(await found({ node: read })).toEqual(['tool']);
    expect(await found({ node: server })).toEqual([]);
    expect(await found({ server })).toEqual(['tool']);
    expect(await found({ server: server.slice(0, -1) })).toEqual([]);
    expect(await found({ text: 'count 100%' })).toEqual(['code']);
    expect(await found({ text: 'c%t' })).toEqual([]);
    expect(await found({ text: 'LONG LINES' })).toEqual(['capability', 'tool']);
    expect(await found({ since: new Date('2026-05-01T00:00:00Z') })).toEqual(['capability']);
    expect(await found({ until: new Date('2026-05-01T00:00:00Z'), kind: 'capability' })).toEqual([]);
    const [newest] = await store().traces.list({ limit: 1, sessionId });
    expect(await found({ runId: newest!.runId })).toEqual(['workflow']);
  });

  test('[STORE-10] traces are listed newest first, filtered and paged; scans follow the order of arrival', async () => {
    const session = randomUUID();
    const { cursor: start } = await lastCursor(store());
    const before = await store().traces.count();
    const traces = Array.from({ length: 5 }, () => sampleTrace({ sessionId: session }));
    for (const trace of traces) await store().traces.append(trace);
    expect(await store().traces.count()).toBe(before + 5);
    const ids = traces.map((trace) => trace.id);

    const newest = await store().traces.list({ limit: 2, sessionId: session });
    expect(newest.map((t) => t.id)).toEqual([ids[4], ids[3]]);
    const rest = await store().traces.list({ limit: 9, sessionId: session, before: ids[3]! });
    expect(rest.map((t) => t.id)).toEqual([ids[2], ids[1], ids[0]]);
    expect(await store().traces.list({ limit: 9, before: 'no-such-trace' })).toEqual([]);
    expect(await store().traces.list({ limit: 9, capabilityId: 'nobody' })).toEqual([]);

    const page = await store().traces.scan(start, 2);
    expect(page.traces.map((t) => t.id)).toEqual([ids[0], ids[1]]);
    expect((await store().traces.remove([ids[1]!, 'no-such-trace'])).traces).toBe(1);
    const next = await store().traces.scan(page.cursor, 9);
    expect(next.traces.map((t) => t.id)).toEqual([ids[2], ids[3], ids[4]]);
    expect(await store().traces.scan(next.cursor, 9)).toEqual({ traces: [], cursor: next.cursor });
  });

  test('[STORE-10] a scan gives each trace as it is stored, whatever happened to it since', async () => {
    const { cursor } = await lastCursor(store());
    const events = sampleTrace().events.flatMap((event) => Array.from({ length: 40 }, () => event));
    const traces = [
      sampleTrace(),
      sampleTrace({ intentText: 'half \ud800 and \u0000', code: '\u0000' }),
      sampleTrace({ events }),
      ...Array.from({ length: 4 }, () => sampleTrace()),
    ];
    const [judged, weighed, embedded, gone] = traces.slice(3).map(({ id }) => id);
    await store().traces.append(traces[0]!);
    await store().traces.appendAll(traces.slice(1));
    const verdict = { good: false, reason: 'no', by: 'Ada', at: new Date(0).toISOString() };
    await store().traces.judge(judged!, verdict);
    await store().traces.setPriorities(new Map([[weighed!, 0.25]]));
    await store().traces.setIntentEmbedding(embedded!, 'a-model', Float32Array.of(0.1, 0.2));
    await store().traces.remove([gone!]);
    const left = traces.filter(({ id }) => id !== gone);
    for (const limit of [1, 2, 9]) {
      let at = cursor;
      for (let place = 0; place < left.length; place += limit) {
        const page = await store().traces.scan(at, limit);
        const wanted = left.slice(place, place + limit).map(({ id }) => store().traces.get(id));
        expect(page.traces).toEqual(await Promise.all(wanted));
        at = page.cursor;
      }
    }
  });

  test('[STORE-11] replay priorities are stored with their traces', async () => {
    const [one, two] = [sampleTrace(), sampleTrace()];
    await store().traces.append(one);
    await store().traces.append(two);
    await store().traces.setPriorities(
      new Map([
        [one.id, 0.125],
        ['gone', 1],
      ]),
    );
    expect((await store().traces.get(one.id))?.priority).toBe(0.125);
    expect((await store().traces.get(two.id))?.priority).toBe(0.5);
  });

  test('[STORE-12] concurrent writers all succeed, and a failed one affects no other', async () => {
    const traces = Array.from({ length: 40 }, () => sampleTrace());
    const clashing = sampleCapability();
    await store().capabilities.put(clashing);
    const outcomes = await Promise.allSettled(
      traces.flatMap((trace, i) => [
        store().traces.append(trace),
        ...(i % 4 === 0 ? [store().capabilities.put(sampleCapability({ slug: clashing.slug }))] : []),
      ]),
    );
    expect(outcomes.filter((o) => o.status === 'fulfilled').length).toBe(40);
    const stored = await Promise.all(traces.map((trace) => store().traces.get(trace.id)));
    expect(stored.filter((trace) => trace === null)).toEqual([]);
  });

  test('[STORE-39] a reader that follows the traces while others write gets each of them once', async () => {
    let { cursor } = await lastCursor(store());
    const met: string[] = [];
    const written: string[] = [];
    let isWriting = true;
    const follow = async () => {
      for (;;) {
        const isLast = !isWriting;
        const page = await store().traces.scan(cursor, 20);
        met.push(...page.traces.map(({ id }) => id));
        cursor = page.cursor;
        if (isLast && page.traces.length === 0) return;
      }
    };
    const write = async (traces: readonly ExecutionTrace[]) => {
      await store().traces.appendAll(traces);
      written.push(...traces.map(({ id }) => id));
    };
    const following = follow();
    // Short writes begin after a long one, and some end before it.
    for (let round = 0; round < 3; round++) {
      let isLongDone = false;
      const long = Array.from({ length: 3 }, () => sampleTrace({ code: 'x'.repeat(2_000_000) }));
      const writeShort = async () => {
        do await write([sampleTrace()]);
        while (!isLongDone);
      };
      const writeLong = write(long).then(() => {
        isLongDone = true;
      });
      await Promise.all([writeLong, writeShort(), writeShort()]);
    }
    isWriting = false;
    await following;
    expect(met.toSorted()).toEqual(written.toSorted());
  });

  test('[DASH-10] runs are counted per hour from a given time', async () => {
    const at = (text: string, success: boolean) => sampleTrace({ executedAt: new Date(text), success });
    await store().traces.appendAll([
      at('2031-05-06T06:59:59Z', true),
      at('2031-05-06T07:10:00Z', true),
      at('2031-05-06T09:00:00Z', false),
      at('2031-05-06T07:59:59Z', false),
    ]);
    expect(await store().traces.tally(new Date('2031-05-06T07:00:00Z'))).toEqual([
      { hour: new Date('2031-05-06T07:00:00Z'), runs: 2, successes: 1 },
      { hour: new Date('2031-05-06T09:00:00Z'), runs: 1, successes: 0 },
    ]);
  });
}

async function lastCursor(store: Store): Promise<{ cursor: number }> {
  let cursor = 0;
  for (;;) {
    const page = await store.traces.scan(cursor, 500);
    if (page.traces.length === 0) return { cursor };
    cursor = page.cursor;
  }
}
