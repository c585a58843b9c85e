import { type ExecutionTrace, runKindOf } from '../../src/core/vocabulary/execution-trace.ts';
import type { TraceQuery } from '../../src/engine/ports.ts';

type Wanted = Omit<TraceQuery, 'limit' | 'before' | 'byTime' | 'visibleTo'>;

const IS_WANTED: {
  readonly [K in keyof Wanted]-?: (trace: ExecutionTrace, value: NonNullable<Wanted[K]>) => boolean;
} = {
  sessionId: (trace, id) => trace.sessionId === id,
  capabilityId: (trace, id) => trace.capabilityId === id,
  runId: (trace, id) => trace.runId === id,
  kind: (trace, kind) => runKindOf(trace) === kind,
  success: (trace, success) => trace.success === success,
  since: (trace, since) => trace.executedAt >= since,
  until: (trace, until) => trace.executedAt < until,
  node: (trace, node) => trace.executedPath.some((called) => called === node),
  server: (trace, server) => trace.executedPath.some((called) => called.startsWith(`${server}:`)),
  text: (trace, part) => trace.intentText?.toLowerCase().includes(part.toLowerCase()) ?? false,
};

/** Whether a trace matches every filter. */
export function isWanted(
  trace: ExecutionTrace,
  { visibleTo: _, ...wanted }: Wanted & Pick<TraceQuery, 'visibleTo'>,
): boolean {
  const given = Object.entries(wanted) as [keyof Wanted, never][];
  return given.every(([name, value]) => value === undefined || IS_WANTED[name](trace, value));
}
