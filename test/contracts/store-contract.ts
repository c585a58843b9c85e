import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { capabilityNode, operationId, type ToolId, toolId } from '../../src/core/vocabulary/ids.ts';
import type { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { EndEvent } from '../../src/core/vocabulary/trace-event.ts';
import type { EpisodicEvent, RankerParams, Store } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import {
  sampleApproval,
  sampleCapability,
  sampleEdge,
  sampleRun,
  sampleTool,
  sampleTrace,
} from '../support/samples.ts';

export interface OpenedStore {
  readonly store: Store;
  dispose(): Promise<void>;
}

/** What every store promises; run on the in-memory twin and on each real one alike. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`store: ${name}`, () => {
    let opened: OpenedStore;
    let store: Store;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    });
    afterAll(() => opened?.dispose());

    toolRules(() => store);
    observationRules(() => store);
    edgeRules(() => store);
    capabilityRules(() => store);
    traceRules(() => store);
    runRules(() => store);
  });
}

const conflict = expect.objectContaining({ code: 'store_conflict' } satisfies Partial<PmlError>);

function toolRules(store: () => Store): void {
  test('[STORE-1] a tool definition comes back as it was put, and is replaced by id', async () => {
    const tool = sampleTool();
    await store().tools.put([tool]);
    expect(await store().tools.get(tool.id)).toEqual(tool);
    const { outputSchema: _, annotations: __, ...bare } = { ...tool, description: 'changed' };
    await store().tools.put([bare]);
    expect(await store().tools.get(tool.id)).toEqual(bare);
    expect(await store().tools.get('no:such' as ToolId)).toBeNull();
  });

  test('[STORE-2] tools are listed in order of id, by server if asked', async () => {
    const server = `server-${randomUUID()}`;
    const tools = ['b', 'B', 'a', 'ä'].map((name) => sampleTool(server, name));
    await store().tools.put(tools);
    const listed = (await store().tools.list(server)).map((tool) => tool.name);
    expect(listed).toEqual(['B', 'a', 'b', 'ä']);
    expect((await store().tools.list()).length).toBeGreaterThanOrEqual(4);
  });

  test('[STORE-23] a differing definition waits beside the accepted one, and a retired tool keeps its own', async () => {
    const tool = sampleTool(`server-${randomUUID()}`);
    const changed = { ...tool, description: 'changed', definitionHash: 'changed' };
    const ofServer = async () =>
      (await store().tools.proposed()).filter((proposed) => proposed.server === tool.server);
    await store().tools.propose([changed]);
    expect(await ofServer()).toEqual([]);
    await store().tools.put([tool]);
    await store().tools.propose([changed]);
    expect(await ofServer()).toEqual([changed]);
    expect(await store().tools.list(tool.server)).toEqual([tool]);
    await store().tools.retire([tool.id]);
    expect([await ofServer(), await store().tools.list(tool.server)]).toEqual([[], []]);
    expect(await store().tools.get(tool.id)).toEqual(tool);
    await store().tools.propose([changed]);
    expect([await ofServer(), await store().tools.list(tool.server)]).toEqual([[changed], [tool]]);
    await store().tools.put([changed]);
    expect([await ofServer(), await store().tools.list(tool.server)]).toEqual([[], [changed]]);
  });

  test('[STORE-24] what is known of a server is kept by name', async () => {
    const name = `server-${randomUUID()}`;
    const identity = {
      info: { name: 'x' },
      capabilities: { tools: {} },
      instructions: null,
      protocolVersion: '2025-11-25',
    };
    const record = { name, settingsHash: 'a', identity, refreshedAt: new Date(1_700_000_000_000) };
    await store().servers.put(record);
    await store().servers.put({ ...record, settingsHash: 'b' });
    const kept = async () => (await store().servers.list()).filter((server) => server.name === name);
    expect(await kept()).toEqual([{ ...record, settingsHash: 'b' }]);
    await store().servers.remove(name);
    expect(await kept()).toEqual([]);
  });

  test('[STORE-3] an embedding belongs to a tool and a model, and goes with its tool', async () => {
    const tool = sampleTool();
    const model = `model-${randomUUID()}`;
    const vector = Float32Array.from([0.1, -0.2, 1e-30, 3]);
    const row = { toolId: tool.id, model, definitionHash: tool.definitionHash, vector };
    await expect(store().embeddings.put([row])).rejects.toEqual(conflict);
    await store().tools.put([tool]);
    await store().embeddings.put([row]);
    await store().embeddings.put([{ ...row, definitionHash: 'newer' }]);
    expect(await store().embeddings.list(model)).toEqual([{ ...row, definitionHash: 'newer' }]);
    expect(await store().embeddings.list('another-model')).toEqual([]);
    await store().tools.remove([tool.id]);
    expect(await store().embeddings.list(model)).toEqual([]);
  });
}

function observationRules(store: () => Store): void {
  test('[STORE-27] what a tool was seen to give is kept with it, also when its definition is put again', async () => {
    const tool = sampleTool(`server-${randomUUID()}`);
    const observed = async () => (await store().tools.observedOutputs()).get(tool.id);
    await store().tools.observeOutputs(new Map([[tool.id, { type: 'string' }]]));
    expect(await observed()).toBeUndefined();
    await store().tools.put([tool]);
    expect(await observed()).toBeUndefined();
    const schema = { type: 'object', properties: { path: { type: 'string' } } };
    await store().tools.observeOutputs(new Map([[tool.id, { type: 'string' }]]));
    await store().tools.observeOutputs(new Map([[tool.id, schema]]));
    await store().tools.put([{ ...tool, description: 'changed' }]);
    expect(await observed()).toEqual(schema);
    await store().tools.retire([tool.id]);
    expect(await observed()).toBeUndefined();
    await store().tools.remove([tool.id]);
    await store().tools.put([tool]);
    expect(await observed()).toBeUndefined();
  });

  test("[STORE-28] an intent's embedding can follow its trace", async () => {
    const trace = sampleTrace({ intentEmbedding: null, embeddingModel: null });
    const vector = Float32Array.from([0.25, -1, 3e-9]);
    await store().traces.append(trace);
    await store().traces.setIntentEmbedding(trace.id, 'later-model', vector);
    await store().traces.setIntentEmbedding('gone', 'later-model', vector);
    const stored = await store().traces.get(trace.id);
    expect(stored).toEqual({ ...trace, intentEmbedding: vector, embeddingModel: 'later-model' });
  });
}

function edgeRules(store: () => Store): void {
  test('[STORE-4] edges of several types between two nodes live side by side', async () => {
    const a = toolId('edges', 'a');
    const b = operationId('filter');
    const c = capabilityNode(randomUUID());
    const edges = [
      sampleEdge(a, b),
      sampleEdge(a, b, { type: 'provides', source: 'template', observedCount: 0 }),
      sampleEdge(c, a, { type: 'contains', source: 'observed', observedCount: 9 }),
    ];
    await store().edges.replaceAll(edges);
    expect(await store().edges.list()).toEqual([edges[2], edges[1], edges[0]]);
    const promoted = { ...sampleEdge(a, b), source: 'observed' as const, observedCount: 3 };
    await store().edges.put([promoted]);
    expect(await store().edges.list()).toEqual([edges[2], edges[1], promoted]);
  });

  test('[STORE-5] replacing the graph leaves nothing of the old one', async () => {
    const old = sampleEdge(toolId('old', 'a'), toolId('old', 'b'));
    await store().edges.put([old]);
    const only = sampleEdge(toolId('new', 'a'), toolId('new', 'b'));
    await store().edges.replaceAll([only]);
    expect(await store().edges.list()).toEqual([only]);
  });
}

function capabilityRules(store: () => Store): void {
  test('[STORE-6] a capability is found by id, slug, alias and code', async () => {
    const capability = sampleCapability();
    await store().capabilities.put(capability);
    expect(await store().capabilities.get(capability.id)).toEqual(capability);
    expect(await store().capabilities.find(capability.slug)).toEqual(capability);
    expect(await store().capabilities.find(capability.aliases[0] ?? '')).toEqual(capability);
    expect(await store().capabilities.findByCodeHash(capability.codeHash)).toEqual(capability);
    expect(await store().capabilities.find('nobody')).toBeNull();
    const renamed = { ...capability, slug: `${capability.slug}_2`, state: 'quarantined' as const };
    await store().capabilities.put(renamed);
    expect((await store().capabilities.list()).filter((c) => c.id === capability.id)).toEqual([renamed]);
    expect(await store().capabilities.remove(capability.id)).toBe(true);
    expect(await store().capabilities.remove(capability.id)).toBe(false);
  });

  test('[STORE-7] two capabilities never share a name or the same code', async () => {
    const first = sampleCapability();
    await store().capabilities.put(first);
    const { slug, aliases, codeHash } = first;
    for (const clash of [{ slug }, { slug: aliases[0] ?? '' }, { aliases: [slug] }, { codeHash }]) {
      await expect(store().capabilities.put(sampleCapability(clash))).rejects.toEqual(conflict);
    }
  });
}

function traceRules(store: () => Store): void {
  test('[STORE-8] a trace comes back exactly, every column of it', async () => {
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

  test('[STORE-26] several traces are stored in their order, all or none', async () => {
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

  test('[STORE-10] traces are listed newest first, filtered and paged; scanned in the order they came', async () => {
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
    expect(await store().traces.remove([ids[1]!, 'no-such-trace'])).toBe(1);
    const next = await store().traces.scan(page.cursor, 9);
    expect(next.traces.map((t) => t.id)).toEqual([ids[2], ids[3], ids[4]]);
    expect(await store().traces.scan(next.cursor, 9)).toEqual({ traces: [], cursor: next.cursor });
  });

  test('[STORE-11] replay priorities are kept with their traces', async () => {
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

  test('[STORE-12] writers at the same time all succeed, and a failed one takes nobody along', async () => {
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
}

async function lastCursor(store: Store): Promise<{ cursor: number }> {
  let cursor = 0;
  for (;;) {
    const page = await store.traces.scan(cursor, 500);
    if (page.traces.length === 0) return { cursor };
    cursor = page.cursor;
  }
}

function runRules(store: () => Store): void {
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

  test('[STORE-14] a run is written only on top of the version it was read from', async () => {
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

  test('[STORE-16] ranker parameters are kept per model, newest first, and can be taken back', async () => {
    const model = `model-${randomUUID()}`;
    const saved = [1, 2].map((n): RankerParams => {
      const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * n) % 256);
      return { id: randomUUID(), model, bytes, metrics: { mrr: n / 10 }, createdAt: new Date(n) };
    });
    for (const params of saved) await store().rankerParams.save(params);
    expect(await store().rankerParams.list(model, 9)).toEqual([saved[1], saved[0]]);
    expect(await store().rankerParams.list(model, 1)).toEqual([saved[1]]);
    expect(await store().rankerParams.remove(saved[1]!.id)).toBe(true);
    expect(await store().rankerParams.list(model, 9)).toEqual([saved[0]]);
  });
}
