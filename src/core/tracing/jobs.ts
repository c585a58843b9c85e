import type { ExecutionTrace } from '../vocabulary/execution-trace.ts';
import { kindOf } from '../vocabulary/ids.ts';
import type { TraceEvent } from '../vocabulary/trace-event.ts';
import { observedValueFlow } from './value-flow.ts';

const DEFAULTS = {
  /** Steps of one job at the most. */
  steps: 50,
  /** How many times the gap may be passed where a value shows that the job continued. */
  patience: 10,
  /** Runs begin by the clock, to the millisecond: what ended so much later had ended. */
  toleranceMs: 1,
};

/** What tells whether a run is a step of the same job as those before it in its session. */
export type JobStep = Pick<
  ExecutionTrace,
  | 'runId'
  | 'sessionId'
  | 'origin'
  | 'capabilityId'
  | 'intentText'
  | 'executedAt'
  | 'durationMs'
  | 'executedPath'
  | 'guest'
  | 'owner'
  | 'visibility'
>;

/** One call, of a tool or a capability, that somebody chose: agents work like this, one call after the other. */
export function isStep({ sessionId, origin, capabilityId, executedPath, guest }: JobStep): boolean {
  if (sessionId === null || origin !== 'agent') return false;
  if (capabilityId !== null) return true;
  return guest === null && executedPath.length === 1 && kindOf(executedPath[0]!) === 'tool';
}

/**
 * Whether a step belongs to the job of the steps before it, all of one session. The same intent makes a job, and so does,
 * without one, the time between; a value that came from the job joins what comes later or says nothing. A job begins again
 * where its first call is made once more after others. `sharesValue`: a value of the job is among the step's arguments.
 */
export function continuesJob(
  job: readonly JobStep[],
  next: JobStep,
  gapMs: number,
  sharesValue: () => boolean,
): boolean {
  const [first, last] = [job[0], job.at(-1)];
  if (!first || !last || !isStep(next) || job.length >= DEFAULTS.steps) return false;
  if (next.sessionId !== last.sessionId) return false;
  if (next.owner !== last.owner || next.visibility !== last.visibility) return false;
  const node = first.executedPath[0];
  const isFirstAgain = next.executedPath[0] === node;
  if (isFirstAgain && job.some(({ executedPath }) => executedPath[0] !== node)) return false;
  const idle = next.executedAt.getTime() - (last.executedAt.getTime() + last.durationMs);
  const intent = job.find(({ intentText }) => intentText !== null)?.intentText ?? null;
  if (intent !== null && next.intentText !== null) return isSame(intent, next.intentText) && idle <= gapMs;
  if (idle > DEFAULTS.patience * gapMs) return false;
  const isSilent = intent === null && next.intentText === null;
  return (isSilent && idle <= gapMs) || sharesValue();
}

const plain = (text: string) => text.trim().toLowerCase().replace(/\s+/g, ' ');
const isSame = (a: string, b: string) => plain(a) === plain(b);

type RecordedStep = JobStep & Pick<ExecutionTrace, 'events'>;

interface OnClock extends Pick<RecordedStep, 'events'> {
  readonly step: RecordedStep;
  readonly latest: number;
}

/** By the first step of a job: with each step that follows, all before it are asked for once more. */
const ON_CLOCK = new WeakMap<RecordedStep, OnClock[]>();

/** By step, its events on the clock of the job, as if one program had made the calls. */
export function stepEvents(job: readonly RecordedStep[]): (readonly TraceEvent[])[] {
  const [first] = job;
  if (!first) return [];
  const known = ON_CLOCK.get(first) ?? [];
  ON_CLOCK.set(first, known);
  const differs = known.findIndex(({ step }, i) => step !== job[i]);
  if (differs >= 0) known.length = differs;
  for (const step of job.slice(known.length)) {
    const latest = known.at(-1)?.latest ?? 0;
    const at = step.executedAt.getTime() - first.executedAt.getTime();
    const start = at < latest && latest - at <= DEFAULTS.toleranceMs ? latest : at;
    const events = step.events.map((event) => ({ ...event, ts: event.ts + start }));
    known.push({ step, events, latest: events.reduce((most, { ts }) => Math.max(most, ts), latest) });
  }
  return known.map(({ events }) => events);
}

export function jobEvents(job: readonly RecordedStep[]): TraceEvent[] {
  return stepEvents(job).flat();
}

/** Values that went from step to step, or into these calls; those that the intents name were known before. */
export function jobValueFlow(job: readonly RecordedStep[], into?: ReadonlySet<string>) {
  return observedValueFlow(jobEvents(job), { intents: job.map(({ intentText }) => intentText) }, into);
}

/** Whether a value of the job's results is among the arguments of the step that follows. */
export function sharesValue(job: readonly RecordedStep[], next: RecordedStep): boolean {
  const own = new Set(next.events.map(({ traceId }) => traceId));
  return jobValueFlow([...job, next], own).some(({ fromTraceId }) => !own.has(fromTraceId));
}
