import { callSpans } from '../../src/core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import { kindOf } from '../../src/core/vocabulary/ids.ts';
import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { Approval, CallFilter, CallGroup, CallStore, StoredCall } from '../../src/engine/ports.ts';

interface Stored {
  readonly seq: number;
  readonly trace: ExecutionTrace;
}

interface Placed extends StoredCall {
  readonly key: readonly [at: number, seq: number, place: number];
  readonly visibility: ExecutionTrace['visibility'];
  readonly executedAt: Date;
}

export function createMemoryCalls(
  stored: () => readonly Stored[],
  approvals: () => readonly Approval[],
): CallStore {
  const calls = (): Placed[] =>
    stored()
      .flatMap((one) => callsOf(one, approvals()))
      .sort((a, b) => compare(b.key, a.key));
  return {
    async list(filter, limit, after) {
      const from = after === undefined ? null : after.split('.').map(Number);
      if (from?.some(Number.isNaN)) throw new PmlError('invalid_argument', `No place: ${after}`);
      const found = calls().filter(
        (call) => isWanted(call, filter) && (from === null || compare(call.key, from) < 0),
      );
      const page = found.slice(0, limit);
      const last = page.length === limit ? page.at(-1)! : null;
      return {
        calls: page.map(({ key: _, visibility: _v, executedAt: _e, ...call }) => structuredClone(call)),
        next: last?.key.join('.') ?? null,
      };
    },
    async group(filter, by) {
      const found = calls().filter((call) => isWanted(call, filter));
      const keyOf = ({ tool, success, errorType }: StoredCall) =>
        by === 'tool' ? tool : success ? null : (errorType ?? 'UNKNOWN');
      const groups = [...Map.groupBy(found, keyOf)].map(([key, same]) => groupOf(key, same));
      groups.sort((a, b) => b.calls - a.calls || ((a.key ?? '\uffff') < (b.key ?? '\uffff') ? -1 : 1));
      return { groups, since: null };
    },
  };
}

function callsOf({ seq, trace }: Stored, approvals: readonly Approval[]): Placed[] {
  const spans = callSpans(trace.events).filter(
    ({ start }) => start.type === 'tool_start' && kindOf(start.node) === 'tool',
  );
  return spans.map(({ start, end }, index) => {
    const asked = approvals.findLast(({ runId, node }) => runId === trace.runId && node === start.node);
    return {
      key: [trace.executedAt.getTime(), seq, index + 1],
      visibility: trace.visibility,
      executedAt: trace.executedAt,
      id: start.traceId,
      tool: start.node,
      traceId: trace.id,
      runId: trace.runId,
      sessionId: trace.sessionId,
      intentText: trace.intentText,
      owner: trace.owner,
      startedAt: new Date(trace.executedAt.getTime() + start.ts),
      durationMs: end ? Math.fround(end.durationMs) : null,
      success: end?.success ?? false,
      errorType: end?.errorType ?? null,
      error: end?.error?.slice(0, 200) ?? null,
      sent: bytesOf(start.args),
      received: bytesOf(end?.result),
      approval: asked ? { state: asked.state, settledBy: asked.settledBy } : null,
    };
  });
}

function bytesOf(value: unknown): number | null {
  return value === undefined ? null : Buffer.byteLength(JSON.stringify(value));
}

const IS_WANTED: {
  readonly [K in keyof CallFilter]-?: (call: Placed, value: NonNullable<CallFilter[K]>) => boolean;
} = {
  tool: (call, tool) => call.tool === tool,
  server: (call, server) => call.tool.startsWith(`${server}:`),
  success: (call, success) => call.success === success,
  errorType: (call, type) => call.errorType === type,
  text: (call, part) => call.error?.toLowerCase().includes(part.toLowerCase()) ?? false,
  owner: (call, owner) => call.owner === owner,
  runId: (call, id) => call.runId === id,
  sessionId: (call, id) => call.sessionId === id,
  asked: (call, asked) => !asked || call.approval !== null,
  since: (call, since) => call.executedAt >= since,
  until: (call, until) => call.executedAt < until,
  minMs: (call, ms) => call.durationMs !== null && call.durationMs >= ms,
  minBytes: (call, bytes) => (call.sent ?? 0) + (call.received ?? 0) >= bytes,
  visibleTo: (call, user) => call.visibility === 'shared' || call.owner === user,
};

function isWanted(call: Placed, filter: CallFilter): boolean {
  const given = Object.entries(filter) as [keyof CallFilter, never][];
  return given.every(([name, value]) => value === undefined || IS_WANTED[name](call, value));
}

function groupOf(key: string | null, calls: readonly Placed[]): CallGroup {
  const took = calls.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  return {
    key,
    calls: calls.length,
    failed: calls.filter(({ success }) => !success).length,
    medianMs: between(took, 0.5),
    p95Ms: between(took, 0.95),
    bytes: calls.reduce((sum, { sent, received }) => sum + (sent ?? 0) + (received ?? 0), 0),
    newest: new Date(Math.max(...calls.map(({ executedAt }) => executedAt.getTime()))),
  };
}

/** As PostgreSQL does: between the two nearest. */
function between(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing === -1 ? 0 : a[differing]! - b[differing]!;
}
