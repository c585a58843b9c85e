import { callSpans } from '../tracing/derive-trace.ts';
import { type JobStep, jobEvents, jobValueFlow } from '../tracing/jobs.ts';
import type { ExecutionTrace } from '../vocabulary/execution-trace.ts';
import { kindOf, type ToolId } from '../vocabulary/ids.ts';
import { isJsonObject } from '../vocabulary/read-wire.ts';
import { type ProgramCall, printProgram } from './print-program.ts';

const DEFAULTS = {
  /** A single call needs no program. */
  leastCalls: 2,
};

/**
 * A job of single calls as the program that an agent could have written: the calls that worked, in order, with what came
 * from earlier results taken from there, and its last result as its own. Null where there is nothing to write: too few
 * calls, capabilities among them, or arguments that were not recorded.
 */
export function jobProgram(job: readonly (JobStep & Pick<ExecutionTrace, 'events'>)[]): string | null {
  const events = jobEvents(job);
  const calls = callSpans(events).filter(({ start, end }) => start.parentTraceId === null && end?.success);
  if (calls.length < DEFAULTS.leastCalls) return null;
  if (calls.some(({ start }) => kindOf(start.node) !== 'tool' || !isJsonObject(start.args))) return null;
  const place = new Map(calls.map(({ start }, i) => [start.traceId, i]));
  const flows = jobValueFlow(job).filter(
    ({ isPart, isInside, line, beside, fromTraceId }) =>
      !isPart && !isInside && line === undefined && beside === undefined && place.has(fromTraceId),
  );
  return printProgram(
    calls.map(({ start }) => ({
      tool: start.node as ToolId,
      arguments: start.args as ProgramCall['arguments'],
      takes: flows
        .filter(({ toTraceId }) => toTraceId === start.traceId)
        .map(({ toPath, fromPath, fromTraceId }) => ({ toPath, call: place.get(fromTraceId)!, fromPath })),
    })),
  );
}
