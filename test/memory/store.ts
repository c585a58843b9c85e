import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { ToolDefinition } from '../../src/core/vocabulary/tool-definition.ts';
import {
  type Approval,
  type ApprovalFilter,
  approvalSettled,
  type Capability,
  type EpisodicEvent,
  type RankerParams,
  type RecalledRun,
  type ServerRecord,
  type Store,
  type StoredSuggestion,
  type ToolEmbedding,
} from '../../src/engine/ports.ts';
import { createMemoryCalls } from './call-store.ts';
import { createMemoryGraphStore } from './graph-store.ts';
import { createMemoryAudit, createMemoryKeys, createMemoryOAuth, createMemoryUsage } from './people-store.ts';
import { createMemoryRollup } from './rollup-store.ts';
import { createMemoryRunStore, isVisible, type LeasedRun } from './run-store.ts';
import { createMemorySuggestions } from './suggestion-store.ts';
import { isWanted } from './wanted-trace.ts';

interface StoredTool {
  readonly accepted: ToolDefinition;
  readonly proposed?: ToolDefinition;
  readonly retired: boolean;
  readonly observedOutput?: unknown;
}

const HOUR_MS = 3_600_000;

/** The SQL stores in memory: the same promises, nothing durable. Values are copied on the way in and out. */
export function createMemoryStore(): Store {
  const servers = new Map<string, ServerRecord>();
  const tools = new Map<string, StoredTool>();
  const embeddings = new Map<string, ToolEmbedding>();
  const capabilities = new Map<string, Capability>();
  const traces = new Map<string, { seq: number; trace: ExecutionTrace; clauses?: Float32Array[] }>();
  const episodes = new Map<string, EpisodicEvent>();
  const runs = new Map<string, LeasedRun>();
  const approvals = new Map<string, Approval>();
  const params = new Map<string, RankerParams>();
  const suggestions = new Map<string, StoredSuggestion>();
  const audit = createMemoryAudit();
  let lastSeq = 0;

  const inOrder = () => [...traces.values()];
  const appendTraces = (all: readonly ExecutionTrace[]) => {
    const ids = new Set(all.map(({ id }) => id));
    if (ids.size < all.length || all.some(({ id }) => traces.has(id))) {
      throw conflict(`A trace with one of these ids is already stored: ${[...ids].join(', ')}`);
    }
    for (const trace of all) {
      lastSeq += 1;
      traces.set(trace.id, { seq: lastSeq, trace: copy(trace) });
    }
  };
  const isUnfinished = (runId: string) =>
    ['running', 'paused'].includes(runs.get(runId)?.run.status ?? '') ||
    approvals.values().some((approval) => approval.runId === runId && approval.state === 'pending');
  const present = () => [...tools.values()].filter((tool) => !tool.retired);
  const graph = createMemoryGraphStore();
  const endRuns = (over: ReadonlySet<string>) => {
    for (const id of over) runs.delete(id);
    for (const { id, workflowId } of episodes.values()) if (over.has(workflowId)) episodes.delete(id);
    for (const { id, runId } of approvals.values()) if (over.has(runId)) approvals.delete(id);
  };
  const forgetRuns = (over: ReadonlySet<string>) => {
    endRuns(over);
    for (const { id, outcome } of suggestions.values())
      if (outcome?.runId && over.has(outcome.runId)) suggestions.delete(id);
  };

  return {
    servers: {
      async put(record) {
        servers.set(record.name, copy(record));
      },
      list: async () => sortBy([...servers.values()], (record) => record.name).map(copy),
      async remove(name) {
        servers.delete(name);
      },
    },

    tools: {
      async put(definitions) {
        for (const definition of definitions) {
          const observedOutput = tools.get(definition.id)?.observedOutput;
          tools.set(definition.id, { accepted: copy(definition), retired: false, observedOutput });
        }
      },
      get: async (id) => copyOrNull(tools.get(id)?.accepted),
      list: async (server) =>
        sortBy(
          present()
            .map((tool) => tool.accepted)
            .filter((tool) => server === undefined || tool.server === server),
          (tool) => tool.id,
        ).map(copy),
      async retire(ids) {
        for (const id of ids) {
          const tool = tools.get(id);
          if (tool) tools.set(id, { ...tool, retired: true });
        }
      },
      async propose(definitions) {
        for (const definition of definitions) {
          const tool = tools.get(definition.id);
          if (tool) tools.set(definition.id, { ...tool, proposed: copy(definition), retired: false });
        }
      },
      proposed: async () =>
        sortBy(
          present().flatMap((tool) => (tool.proposed ? [tool.proposed] : [])),
          (tool) => tool.id,
        ).map(copy),
      async remove(ids) {
        for (const id of ids) {
          tools.delete(id);
          for (const [key, { toolId }] of embeddings) if (toolId === id) embeddings.delete(key);
        }
      },
      async observeOutputs(schemas) {
        for (const [id, schema] of schemas) {
          const tool = tools.get(id);
          if (tool) tools.set(id, { ...tool, observedOutput: copy(schema) });
        }
      },
      async observedOutputs() {
        const seen = present().filter(({ observedOutput }) => observedOutput !== undefined);
        return new Map(seen.map(({ accepted, observedOutput }) => [accepted.id, copy(observedOutput)]));
      },
    },

    embeddings: {
      async put(rows) {
        const orphan = rows.find((row) => !tools.has(row.toolId));
        if (orphan) throw conflict(`Tool ${orphan.toolId} is not in the store`);
        for (const row of rows) embeddings.set(`${row.toolId} ${row.model}`, copy(row));
      },
      list: async (model) =>
        sortBy(
          [...embeddings.values()].filter((row) => row.model === model),
          (row) => row.toolId,
        ).map(copy),
    },

    graph,

    rollup: createMemoryRollup({
      inOrder,
      isUnfinished,
      cursor: async () => (await graph.position()).cursor,
      remove: (ids) => ids.forEach((id) => void traces.delete(id)),
      endRuns: (ids) => endRuns(new Set(ids)),
    }),

    capabilities: {
      async put(capability) {
        const names = [capability.slug, ...capability.aliases];
        for (const other of capabilities.values()) {
          if (other.id === capability.id) continue;
          const taken = [other.slug, ...other.aliases].some((name) => names.includes(name));
          if (taken || other.codeHash === capability.codeHash) {
            throw conflict(`Capability "${other.slug}" has a name or the code of "${capability.slug}"`);
          }
        }
        const stored = capabilities.get(capability.id);
        if (stored && stored.revision !== capability.revision - 1) {
          throw conflict(`Capability "${stored.slug}" was changed by another process`);
        }
        capabilities.set(capability.id, copy(capability));
      },
      get: async (id) => copyOrNull(capabilities.get(id)),
      async find(slug) {
        const all = [...capabilities.values()];
        return copyOrNull(all.find((c) => c.slug === slug) ?? all.find((c) => c.aliases.includes(slug)));
      },
      findByCodeHash: async (hash) => copyOrNull([...capabilities.values()].find((c) => c.codeHash === hash)),
      list: async () => sortBy([...capabilities.values()], (c) => c.slug).map(copy),
      remove: async (id) => capabilities.delete(id),
    },

    traces: {
      append: async (trace) => appendTraces([trace]),
      appendAll: async (all) => appendTraces(all),
      get: async (id) => copyOrNull(traces.get(id)?.trace),
      async list({ limit, before, byTime, ...wanted }) {
        const timeOf = ({ trace }: { trace: ExecutionTrace }) => (byTime ? trace.executedAt.getTime() : 0);
        const newest = inOrder().sort((a, b) => timeOf(b) - timeOf(a) || b.seq - a.seq);
        const after = newest.findIndex(({ trace }) => trace.id === before);
        const listed = before === undefined ? newest : after < 0 ? [] : newest.slice(after + 1);
        return listed
          .map(({ trace }) => trace)
          .filter((trace) => isWanted(trace, wanted) && isVisible(trace, wanted.visibleTo))
          .slice(0, limit)
          .map(copy);
      },
      async scan(cursor, limit) {
        const page = inOrder()
          .filter(({ seq }) => seq > cursor)
          .slice(0, limit);
        return { traces: page.map(({ trace }) => copy(trace)), cursor: page.at(-1)?.seq ?? cursor };
      },
      count: async () => traces.size,
      async tally(since) {
        const recent = [...traces.values()].filter(({ trace }) => trace.executedAt >= since);
        const hours = Map.groupBy(recent, ({ trace }) => Math.floor(trace.executedAt.getTime() / HOUR_MS));
        return [...hours]
          .sort(([a], [b]) => a - b)
          .map(([hour, stored]) => ({
            hour: new Date(hour * HOUR_MS),
            runs: stored.length,
            successes: stored.filter(({ trace }) => trace.success).length,
          }));
      },
      async judge(id, verdict) {
        const stored = traces.get(id);
        if (!stored) return false;
        const { verdict: _, ...trace } = stored.trace;
        stored.trace = { ...trace, ...(verdict && { verdict: copy(verdict) }) };
        return true;
      },
      async setPriorities(priorities) {
        for (const [id, priority] of priorities) {
          const stored = traces.get(id);
          if (stored) stored.trace = { ...stored.trace, priority };
        }
      },
      async setIntentEmbedding(id, model, vector, clauses = []) {
        const stored = traces.get(id);
        if (!stored) return;
        stored.trace = { ...stored.trace, embeddingModel: model, intentEmbedding: copy(vector) };
        stored.clauses = clauses.map((clause) => Float32Array.from(Float16Array.from(clause)));
      },
      async recall(model, limit) {
        return inOrder()
          .filter(({ trace }) => trace.intentText !== null)
          .slice(-limit)
          .map(({ trace, clauses }): RecalledRun => {
            const isKnown = trace.embeddingModel === model && trace.intentEmbedding !== null;
            return copy({
              id: trace.id,
              runId: trace.runId,
              sessionId: trace.sessionId,
              origin: trace.origin,
              intentText: trace.intentText!,
              intent: isKnown ? trace.intentEmbedding : null,
              clauses: isKnown ? (clauses ?? null) : null,
              executedPath: trace.executedPath,
              toolInvocations: trace.toolInvocations,
              success: trace.success,
              visibility: trace.visibility,
              capabilityId: trace.capabilityId,
              executedAt: trace.executedAt,
              durationMs: trace.durationMs,
              guest: trace.guest,
              owner: trace.owner,
              ...(trace.verdict && { verdict: trace.verdict }),
            });
          });
      },
      // All runs can be recalled from memory, so there are no older ones to search.
      near: async () => [],
      async remove(ids, also) {
        const chosen = [...new Set(ids)].flatMap((id) => traces.get(id)?.trace ?? []);
        const runIds = new Set(chosen.map(({ runId }) => runId));
        const spared = new Set(also?.unfinishedRuns ? [] : [...runIds].filter(isUnfinished).sort());
        const over = runIds.difference(spared);
        const going = chosen.filter(({ runId }) => over.has(runId));
        for (const { id } of going) traces.delete(id);
        forgetRuns(over);
        return { traces: going.length, unfinishedRuns: [...spared] };
      },
    },

    calls: createMemoryCalls(inOrder, () => [...approvals.values()]),

    episodes: {
      async append(events) {
        const twice = events.find((event) => episodes.has(event.id));
        if (twice) throw conflict(`Event ${twice.id} is already stored`);
        for (const event of events) episodes.set(event.id, copy(event));
      },
      list: async (workflowId) =>
        [...episodes.values()].filter((event) => event.workflowId === workflowId).map(copy),
    },

    runs: createMemoryRunStore(runs),

    approvals: {
      async request(approval) {
        if (approvals.has(approval.id)) throw conflict(`Approval ${approval.id} is already stored`);
        approvals.set(approval.id, copy(approval));
      },
      async settle(id, state, settledBy, settledAt) {
        const approval = approvals.get(id);
        if (approval?.state !== 'pending') return false;
        approvals.set(id, { ...approval, state, settledBy, settledAt });
        await audit.append(approvalSettled(approval, state, settledBy, settledAt));
        return true;
      },
      async use(id) {
        const approval = approvals.get(id);
        if (approval?.state !== 'approved') return false;
        approvals.set(id, { ...approval, state: 'used' });
        return true;
      },
      get: async (id) => copyOrNull(approvals.get(id)),
      async list(filter) {
        const wanted = Object.entries(filter) as [keyof ApprovalFilter, unknown][];
        return [...approvals.values()]
          .filter((approval) =>
            wanted.every(([key, value]) => value === undefined || approval[key] === value),
          )
          .map(copy);
      },
    },

    suggestions: createMemorySuggestions(suggestions),
    rankerParams: {
      async save(row) {
        if (params.has(row.id)) throw conflict(`Parameters ${row.id} are already stored`);
        params.set(row.id, copy(row));
      },
      list: async (model, limit) =>
        [...params.values()]
          .filter((row) => row.model === model)
          .reverse()
          .slice(0, limit)
          .map(copy),
      remove: async (id) => params.delete(id),
    },

    keys: createMemoryKeys(audit),
    audit,
    usage: createMemoryUsage(),
    oauth: createMemoryOAuth(),

    async close() {},
  };
}

function copy<T>(value: T): T {
  return structuredClone(value);
}

function copyOrNull<T>(value: T | undefined): T | null {
  return value === undefined ? null : copy(value);
}

function sortBy<T>(values: T[], key: (value: T) => string): T[] {
  return values.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function conflict(message: string): PmlError {
  return new PmlError('store_conflict', message);
}
