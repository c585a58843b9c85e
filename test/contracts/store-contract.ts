import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUN_ORIGINS } from '../../src/core/vocabulary/execution-trace.ts';
import type { ToolId } from '../../src/core/vocabulary/ids.ts';
import type { Store } from '../../src/engine/ports.ts';
import { sampleCapability, sampleRun, sampleTool, sampleTrace } from '../support/samples.ts';
import { callRules } from './store-call-rules.ts';
import { conflict } from './store-conflict.ts';
import { forgettingRules } from './store-forgetting-rules.ts';
import { graphRules } from './store-graph-rules.ts';
import { growthRules } from './store-growth-rules.ts';
import { leaseRules } from './store-lease-rules.ts';
import { peopleRules } from './store-people-rules.ts';
import { runRules } from './store-run-rules.ts';
import { suggestionRules } from './store-suggestion-rules.ts';
import { traceRules } from './store-trace-rules.ts';

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
    recallRules(() => store);
    graphRules(() => store);
    capabilityRules(() => store);
    traceRules(() => store);
    callRules(() => store);
    runRules(() => store);
    suggestionRules(() => store);
    leaseRules(() => store);
    forgettingRules(() => store);
    growthRules(() => store);
    peopleRules(() => store);
  });
}

function toolRules(store: () => Store): void {
  test('[STORE-1] a tool definition comes back as it was put, and is replaced by id', async () => {
    const tool = sampleTool();
    await store().tools.put([tool]);
    expect(await store().tools.get(tool.id)).toEqual(tool);
    const { outputSchema: _, annotations: __, ...bare } = { ...tool, description: 'changed' };
    await store().tools.put([bare]);
    expect(await store().tools.get(tool.id)).toEqual(bare);
    for (const known of [bare, tool]) {
      const titled = { ...known, otherFields: { title: 'A title', _meta: { deep: [1] } } };
      await store().tools.put([titled]);
      expect(await store().tools.get(tool.id)).toEqual(titled);
    }
    expect(await store().tools.get('no:such' as ToolId)).toBeNull();
  });

  test('[HANG-8] an id that the store cannot represent is not found', async () => {
    for (const id of ['\0', 'a\0b', '\ud800']) {
      expect(await store().tools.get(id as ToolId)).toBeNull();
      expect(await store().traces.get(id)).toBeNull();
      expect(await store().runs.get(id)).toBeNull();
      expect(await store().approvals.get(id)).toBeNull();
      expect(await store().tools.list(id)).toEqual([]);
      expect(await store().approvals.list({ runId: id })).toEqual([]);
      expect(await store().audit.list({ limit: 1, subject: id })).toEqual([]);
    }
  });

  test('[STORE-2] tools are listed by id, optionally for one server', async () => {
    const server = `server-${randomUUID()}`;
    const tools = ['b', 'B', 'a', 'ä'].map((name) => sampleTool(server, name));
    await store().tools.put(tools);
    const listed = (await store().tools.list(server)).map((tool) => tool.name);
    expect(listed).toEqual(['B', 'a', 'b', 'ä']);
    expect((await store().tools.list()).length).toBeGreaterThanOrEqual(4);
  });

  test('[STORE-23] a differing definition is kept beside the accepted one, and a retired tool keeps its own', async () => {
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

  test('[STORE-24] facts about a server are stored by name', async () => {
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

  test('[STORE-3] an embedding belongs to a tool and a model, and is deleted with its tool', async () => {
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
  test('[STORE-27] the observed results of a tool are stored with it, also when its definition is put again', async () => {
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

  test("[STORE-28] an intent's embedding can be stored after its trace", async () => {
    const trace = sampleTrace({ intentEmbedding: null, embeddingModel: null });
    const vector = Float32Array.from([0.25, -1, 3e-9]);
    await store().traces.append(trace);
    await store().traces.setIntentEmbedding(trace.id, 'later-model', vector);
    await store().traces.setIntentEmbedding('gone', 'later-model', vector);
    const stored = await store().traces.get(trace.id);
    expect(stored).toEqual({ ...trace, intentEmbedding: vector, embeddingModel: 'later-model' });
  });
}

function recallRules(store: () => Store): void {
  test('[STORE-44] the newest runs with an intent are recalled, oldest first, with the vectors of one model', async () => {
    const made = [0, 1, 2].map((i) =>
      sampleTrace({ intentText: `recalled ${i}`, intentEmbedding: null, embeddingModel: null }),
    );
    const silent = sampleTrace({ intentText: null, intentEmbedding: null, embeddingModel: null });
    for (const trace of [...made, silent]) await store().traces.append(trace);
    const vector = Float32Array.from([0.6, -0.8]);
    const clauses = [Float32Array.from([1, 0]), Float32Array.from([0.5, -0.25])];
    await store().traces.setIntentEmbedding(made[1]!.id, 'm', vector, clauses);
    await store().traces.setIntentEmbedding(made[2]!.id, 'other', vector, clauses);
    const recalled = await store().traces.recall('m', 3);
    expect(recalled.map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(recalled.map(({ intent }) => intent)).toEqual([null, vector, null]);
    expect(recalled.map((run) => run.clauses)).toEqual([null, clauses, null]);
    const { runId, executedPath, toolInvocations, success, sessionId } = made[1]!;
    expect(recalled[1]).toMatchObject({ runId, executedPath, toolInvocations, success, sessionId });
    expect(await store().traces.recall('m', 1)).toHaveLength(1);
  });

  test('[ORIGIN-1] traces and runs come back with who chose what ran', async () => {
    for (const origin of RUN_ORIGINS) {
      const trace = sampleTrace({ origin });
      await store().traces.append(trace);
      expect(await store().traces.get(trace.id)).toMatchObject({ origin });
      expect(await store().traces.list({ limit: 1 })).toMatchObject([{ origin }]);
      expect(await store().traces.recall('m', 1)).toMatchObject([{ id: trace.id, origin }]);
      const run = sampleRun({ origin });
      await store().runs.create(run);
      expect(await store().runs.get(run.id)).toMatchObject({ origin });
    }
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
    const renamed = {
      ...capability,
      slug: `${capability.slug}_2`,
      state: 'quarantined' as const,
      owner: 'bob',
      visibility: 'private' as const,
      outputSchema: null,
      revision: 2,
    };
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
