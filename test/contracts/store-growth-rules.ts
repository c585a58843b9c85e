import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type NodeId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { Store, TraceQuery } from '../../src/engine/ports.ts';
import { sampleApproval, sampleEdge, sampleRun, sampleStatistics, sampleTrace } from '../support/samples.ts';
import { conflict } from './store-conflict.ts';

const LONG_AGO = new Date('2021-01-01T00:00:00Z');

/** At this moment, and with an id that sorts by itself. */
const at = (moment: string, over = {}) => sampleTrace({ executedAt: new Date(moment), ...over });

export function growthRules(store: () => Store): void {
  test('[STORE-46] traces of any time coexist: found by id, listed in order of arrival, unique', async () => {
    const moments = [
      '2031-05-31T23:59:59.999Z',
      '1971-01-01T00:00:00Z',
      '2031-06-01T00:00:00Z',
      '2025-02-28T12:00:00Z',
    ];
    const traces = moments.map((moment) => at(moment));
    await store().traces.appendAll(traces.slice(0, 3));
    await store().traces.append(traces[3]!);
    for (const trace of traces) expect(await store().traces.get(trace.id)).toEqual(trace);
    const listed = await store().traces.list({ limit: 4 });
    expect(listed.map(({ id }) => id)).toEqual(traces.map(({ id }) => id).reverse());
    const before = await store().traces.list({ limit: 2, before: traces[2]!.id });
    expect(before.map(({ id }) => id)).toEqual([traces[1]!.id, traces[0]!.id]);
    const byTime = [2, 0, 3, 1].map((nth) => traces[nth]!.id);
    const inTime = await store().traces.list({ limit: 9_999, byTime: true });
    expect(inTime.map(({ id }) => id).filter((id) => byTime.includes(id))).toEqual(byTime);
    const older = await store().traces.list({ limit: 9_999, byTime: true, before: byTime[1]! });
    expect(older.map(({ id }) => id).filter((id) => byTime.includes(id))).toEqual(byTime.slice(2));
    expect(await store().traces.list({ limit: 9, byTime: true, before: randomUUID() })).toEqual([]);
    // The same id in another month is the same id.
    const twin = at('2028-01-01T00:00:00Z', { id: traces[0]!.id });
    await expect(store().traces.append(twin)).rejects.toEqual(conflict);
    const count = await store().traces.count();
    await store().traces.remove([traces[0]!.id]);
    expect(await store().traces.count()).toBe(count - 1);
    await store().traces.append(twin);
    expect(await store().traces.get(twin.id)).toEqual(twin);
    await store().traces.remove(traces.map(({ id }) => id));
  });

  test('[STORE-47] expired traces enter the roll-up once, with what is stored about their runs', async () => {
    const old = [1, 2, 3].map((month) => at(`2020-0${month}-02T00:00:00Z`));
    const [waiting, unlearned, young] = [
      at('2020-04-04T00:00:00Z'),
      at('2020-04-05T00:00:00Z'),
      at('2026-01-01T00:00:00Z'),
    ];
    for (const trace of [...old, waiting]) await store().traces.append(trace);
    const cursor = await endOf(store());
    await store().graph.replaceAll({ edges: [], statistics: [], cursor });
    for (const trace of [unlearned, young]) await store().traces.append(trace);
    await store().approvals.request(sampleApproval({ runId: waiting.runId }));
    await store().runs.create(sampleRun({ id: old[0]!.runId, status: 'success' }));

    const due = await store().rollup.due(LONG_AGO, 2);
    expect(due).toEqual(old.slice(0, 2));
    expect((await store().rollup.due(LONG_AGO, 9)).map(({ id }) => id)).toEqual(old.map(({ id }) => id));
    const [a, b] = [toolId('rolled', 'a'), toolId('rolled', 'b')];
    const learned = { edges: [sampleEdge(a, b)], statistics: [sampleStatistics(a)] };
    const from = await store().rollup.traces();
    const step = { ...learned, from, ids: due.map(({ id }) => id) };
    expect(await store().rollup.fold({ ...step, from: from + 1 })).toBe(false);
    expect(await store().rollup.fold(step)).toBe(true);
    expect(await store().rollup.fold(step)).toBe(false);
    expect(await store().rollup.read()).toEqual({ ...learned, traces: from + 2 });
    expect(await store().traces.get(old[0]!.id)).toBeNull();
    expect(await store().runs.get(old[0]!.runId)).toBeNull();

    const edges = [sampleEdge(a, b, { observedCount: 2 })];
    expect(await store().rollup.fold({ edges, statistics: [], from: from + 2, ids: [old[2]!.id] })).toBe(
      true,
    );
    expect(await store().rollup.read()).toEqual({ ...learned, edges, traces: from + 3 });
    expect(await store().rollup.due(LONG_AGO, 9)).toEqual([]);
    await store().rollup.tidy(LONG_AGO);
    for (const trace of [waiting, unlearned, young])
      expect(await store().traces.get(trace.id)).toEqual(trace);
    // A month that was given back is there again when it is needed.
    const late = at('2020-01-02T00:00:00Z');
    await store().traces.append(late);
    expect(await store().traces.get(late.id)).toEqual(late);
  });

  test('[STORE-48] the number of traces and lists by tool or server follow what is stored, forgotten and rolled up', async () => {
    const server = `s${randomUUID().slice(0, 8)}`;
    const [read, write] = [toolId(server, 'read'), toolId(server, 'write')];
    const paths = [[read], [write, read, write], ['code:filter' as NodeId], [write], [read]];
    const before = await store().traces.count();
    const traces = paths.map((executedPath, nth) =>
      at(`2020-0${1 + (nth % 4)}-02T00:00:00Z`, { executedPath, success: nth !== 4 }),
    );
    await store().traces.appendAll(traces.slice(0, 2));
    for (const trace of traces.slice(2)) await store().traces.append(trace);
    const listed = async (query: Omit<TraceQuery, 'limit'>, limit = 9) =>
      (await store().traces.list({ limit, ...query })).map(({ id }) => traces.findIndex((t) => t.id === id));
    expect(await store().traces.count()).toBe(before + 5);
    expect(await listed({ node: read })).toEqual([4, 1, 0]);
    expect(await listed({ node: read }, 2)).toEqual([4, 1]);
    expect(await listed({ node: read, before: traces[4]!.id })).toEqual([1, 0]);
    expect(await listed({ node: read, byTime: true })).toEqual([1, 4, 0]);
    expect(await listed({ node: read, byTime: true, before: traces[4]!.id })).toEqual([0]);
    expect(await listed({ node: read, success: true })).toEqual([1, 0]);
    expect(await listed({ server })).toEqual([4, 3, 1, 0]);
    expect(await listed({ server, node: write })).toEqual([3, 1]);
    expect(await listed({ server: `${server}2` })).toEqual([]);

    await store().traces.remove([traces[1]!.id]);
    const from = await store().rollup.traces();
    await store().rollup.fold({ edges: [], statistics: [], from, ids: [traces[0]!.id, traces[3]!.id] });
    expect(await store().traces.count()).toBe(before + 2);
    expect(await listed({ node: read })).toEqual([4]);
    expect(await listed({ node: write })).toEqual([]);
    expect(await listed({ server })).toEqual([4]);
    await expect(store().traces.appendAll([traces[1]!, traces[4]!])).rejects.toEqual(conflict);
    expect(await store().traces.count()).toBe(before + 2);
    expect(await listed({ server })).toEqual([4]);
  });
}

async function endOf({ traces }: Store): Promise<number> {
  for (let cursor = 0; ; ) {
    const page = await traces.scan(cursor, 500);
    if (page.traces.length === 0) return cursor;
    cursor = page.cursor;
  }
}
