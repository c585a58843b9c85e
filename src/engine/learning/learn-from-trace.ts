import { jobProgram } from '../../core/capabilities/job-program.ts';
import { deriveTrace } from '../../core/tracing/derive-trace.ts';
import { isStep, jobEvents } from '../../core/tracing/jobs.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isEnd } from '../../core/vocabulary/trace-event.ts';
import type { Background } from '../background.ts';
import { type CapabilityLessons, learnCapability } from '../capabilities/learn-capability.ts';
import type { PartLearner } from '../capabilities/learn-parts.ts';
import type { ObservedOutputs } from '../catalogue/observed-outputs.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { LiveGraph } from '../graph/live-graph.ts';
import type { EpisodicEvent, Settings } from '../ports.ts';
import type { Traces } from '../traces/open-traces.ts';
import type { TaskResult } from '../workflow/task-state.ts';
import type { Learning } from './open-learning.ts';
import type { SuggestionLog } from './suggestion-log.ts';

const DEFAULTS = {
  /** Traces of others that wait at the most; of more, the newest. */
  heard: 5_000,
  /** Ids of own traces that are known as such. */
  own: 20_000,
  /** A shared store that is away is tried again after so many milliseconds, so many times. */
  pauseMs: 500,
  tries: 120,
  /**
   * Milliseconds between two rounds while runs keep coming: what is read and written once per round costs as much for
   * one trace as for fifty.
   */
  gatherMs: 100,
  /** Milliseconds that a question about routines waits for those of the newest runs. */
  admittedMs: 300,
  /** Traces after which capabilities are related again while more wait. */
  related: 20,
  /** Calls of one run that become episodes; the trace has them all. */
  perRun: 500,
};

export interface LearnerParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly traces: Pick<Traces, 'onStoring' | 'onStored'>;
  readonly settings: () => Settings;
  /** Meets the traces of other gateways on the same store, too. */
  readonly graph: LiveGraph;
  /** Whether there may be others: else every trace that the graph meets is this gateway's own. */
  readonly isShared: boolean;
  readonly outputs: ObservedOutputs;
  readonly lessons: CapabilityLessons;
  readonly parts: PartLearner;
  readonly learning: Pick<Learning, 'know' | 'learn' | 'hear' | 'onJob'>;
  readonly suggestions: Pick<SuggestionLog, 'see'>;
  /** Called when capabilities may have learned of another intent. */
  readonly relateCapabilities: () => Promise<void>;
}

/** A stored trace that waits to be learned from. */
interface Stored {
  readonly trace: ExecutionTrace;
  readonly isOwn: boolean;
}

export interface Learner {
  /** Waits a moment until the routines of all runs that were stored so far are known. */
  admitted(): Promise<void>;
}

/** Learns from stored traces, one after another in the order they were stored, off the answer's path. */
export function learnFromTraces({
  ports,
  background,
  traces,
  settings,
  graph,
  isShared,
  outputs,
  lessons,
  parts,
  learning,
  suggestions,
  relateCapabilities,
}: LearnerParts): Learner {
  let waiting: Stored[] = [];
  /** Whether the routines of a round are being admitted. */
  let isAdmitting = false;
  /** Those who wait for routines. */
  const asking: (() => void)[] = [];
  let isLearning = false;
  /** Those whose routine is known, and that have more to teach, which may take longer: parts of jobs are proven first. */
  const later: Stored[] = [];
  /** Runs of code since capabilities were related. */
  let unrelated = 0;
  /** Traces whose training waits for its turn: nothing else does for a training. */
  const toTrain: ExecutionTrace[] = [];
  let isTraining = false;
  /** In the order they came, so that the oldest can go. */
  const own = new Set<string>();

  const isEnabled = () => settings().learning.enabled;

  /** A store that is away for a moment is waited for: what the trace teaches would be lost. */
  const patiently = async (step: () => unknown, signal: AbortSignal) => {
    for (let left = ports.journal ? DEFAULTS.tries : 0; ; left--) {
      try {
        return void (await step());
      } catch (error) {
        const isAway = PmlError.from(error).code === 'store_unavailable';
        if (!isAway || left <= 0 || signal.aborted) throw error;
        await ports.sleep(DEFAULTS.pauseMs, signal);
      }
    }
  };
  const teaches = ({ trace, isOwn }: Stored) =>
    // What was edited in a fork must not be taken for what a server said.
    isOwn && isEnabled() && trace.origin !== 'fork';
  /** What the next question may be about: the graph, and what the run is called. */
  const firstSteps = (
    stored: Stored,
    catchUp: () => Promise<void>,
    signal: AbortSignal,
  ): (() => unknown)[] => {
    const { trace, isOwn } = stored;
    if (!isOwn) return isEnabled() && !signal.aborted ? [() => learning.hear(trace, signal)] : [];
    const kept = [() => ports.exporter?.export(trace), () => recordEpisodes(ports, trace)];
    if (!teaches(stored)) return kept;
    return [...kept, catchUp, () => outputs.learn(trace), () => learnCapability(lessons, trace)];
  };
  /** All capabilities are compared, however many runs there were. */
  const relate = async ({ code }: ExecutionTrace) => {
    if (code !== null) unrelated++;
    if (unrelated === 0 || (later.length > 0 && unrelated < DEFAULTS.related)) return;
    unrelated = 0;
    await relateCapabilities();
  };
  const laterSteps = (stored: Stored): (() => unknown)[] => {
    const { trace } = stored;
    if (!teaches(stored)) return [];
    return [
      // Those of a job of single calls once it is over: as a whole it may have a name.
      () => !isStep(trace) && parts.learn(trace),
      () => relate(trace),
      // One call of a job is not all that is made of what was suggested: the whole of it tells.
      () => !isStep(trace) && suggestions.see(trace),
      () => train(trace),
    ];
  };
  /** What fails must not keep the rest, or the traces after it, from being learned. */
  const attempt = async (trace: ExecutionTrace, step: () => unknown, signal: AbortSignal) => {
    try {
      await patiently(step, signal);
    } catch (error) {
      ports.logger.log('error', 'Learning from a trace failed', {
        trace_id: trace.id,
        error: String(error),
      });
    }
  };
  const learnRound = async (round: readonly Stored[], signal: AbortSignal) => {
    let isGraphReady = false;
    /** All traces of the round are in the store, so the graph meets them together. */
    const catchUp = async () => {
      if (!isGraphReady) await graph.catchUp(signal);
      isGraphReady = true;
    };
    isAdmitting = true;
    for (const stored of round) {
      for (const step of firstSteps(stored, catchUp, signal)) await attempt(stored.trace, step, signal);
    }
    isAdmitting = false;
    if (waiting.length === 0) for (const tell of asking.splice(0)) tell();
    later.push(...round);
  };
  const learnAll = async (signal: AbortSignal) => {
    // The answer of the run goes out first.
    await ports.sleep(0);
    for (let next = Number.NEGATIVE_INFINITY; waiting.length > 0 || later.length > 0; ) {
      if (waiting.length > 0 && (asking.length > 0 || ports.clock.monotonic() >= next)) {
        await learnRound(waiting.splice(0), signal);
        next = ports.clock.monotonic() + DEFAULTS.gatherMs;
      }
      const stored = later.shift();
      if (stored) {
        for (const step of laterSteps(stored)) await attempt(stored.trace, step, signal);
      } else if (waiting.length > 0) {
        // A gateway that closes learns the rest at once.
        await ports.sleep(DEFAULTS.gatherMs, signal).catch(() => {});
        next = Number.NEGATIVE_INFINITY;
      }
    }
    isLearning = false;
  };
  const train = (trace: ExecutionTrace) => {
    toTrain.push(trace);
    if (isTraining) return;
    isTraining = true;
    background.run('Training', async (signal) => {
      for (let next = toTrain.shift(); next; next = toTrain.shift()) {
        const taught = next;
        await attempt(taught, () => learning.learn(taught, signal), signal);
      }
      isTraining = false;
    });
  };

  const start = () => {
    if (isLearning || waiting.length === 0) return;
    isLearning = true;
    background.run('Learning from traces', learnAll);
  };
  const expect = ({ id }: ExecutionTrace) => {
    own.add(id);
    if (own.size > DEFAULTS.own) own.delete(own.values().next().value!);
  };

  /** What another gateway stored teaches the ranker alone: that gateway sees to the rest. */
  const takeOthers = (met: readonly ExecutionTrace[]) => {
    const others = met.filter(({ id }) => !own.has(id));
    // Once is enough, also where the graph meets them again.
    others.forEach(expect);
    waiting.push(...others.map((trace) => ({ trace, isOwn: false })));
    let tooMany = waiting.filter(({ isOwn }) => !isOwn).length - DEFAULTS.heard;
    if (tooMany > 0) waiting = waiting.filter(({ isOwn }) => isOwn || tooMany-- <= 0);
    start();
  };

  learning.onJob(async (job) => {
    const whole = jobTrace(job);
    await suggestions.see(whole);
    await learnFromJob(lessons, job, whole);
    for (const trace of job) await parts.learn(trace);
  });
  traces.onStored((trace) => {
    if (isEnabled()) learning.know(trace);
    waiting.push({ trace, isOwn: true });
    start();
  });
  if (isShared) {
    traces.onStoring(expect);
    graph.onLearned(takeOthers);
  }
  return {
    async admitted() {
      if (waiting.length === 0 && !isAdmitting) return;
      const enough = new AbortController();
      const known = new Promise<void>((resolve) => void asking.push(resolve));
      await Promise.race([known, ports.sleep(DEFAULTS.admittedMs, enough.signal).catch(() => {})]);
      enough.abort();
    },
  };
}

type Completion = Pick<EpisodicEvent, 'taskId' | 'timestamp' | 'data'>;

/** Each task of a workflow, and each call of a program, as a `task_complete` of its own. */
async function recordEpisodes(
  { store, crypto }: Pick<FlowPorts, 'store' | 'crypto'>,
  trace: ExecutionTrace,
): Promise<void> {
  const completions = trace.code === null ? completedTasks(trace) : completedCalls(trace);
  if (completions.length === 0) return;
  await store.episodes.append(
    completions.slice(0, DEFAULTS.perRun).map((completion) => ({
      ...completion,
      id: crypto.randomUuid(),
      workflowId: trace.runId,
      eventType: 'task_complete',
    })),
  );
}

function completedCalls({ executedAt, toolInvocations }: ExecutionTrace): Completion[] {
  return toolInvocations.map(({ id, tool, ts, durationMs, success }) => ({
    taskId: id,
    timestamp: new Date(executedAt.getTime() + ts + durationMs),
    data: { tool, success, duration_ms: durationMs },
  }));
}

/** Those that came to their end in this trace. */
function completedTasks({ executedAt, taskResults }: ExecutionTrace): Completion[] {
  return (taskResults as readonly Partial<TaskResult>[]).flatMap((task) => {
    const { id, node, status, earlier, at, duration_ms } = task ?? {};
    const isOver = (status === 'success' || status === 'error') && !earlier;
    if (id === undefined || node === undefined || !isOver) return [];
    const timestamp = at === undefined ? executedAt : new Date(at);
    const data = { node, success: status === 'success', ...(duration_ms !== undefined && { duration_ms }) };
    return [{ taskId: id, timestamp, data }];
  });
}

/** A job of single calls as if one run had made them. */
function jobTrace(job: readonly ExecutionTrace[]): ExecutionTrace {
  const [first, last] = [job[0]!, job.at(-1)!];
  const events = jobEvents(job);
  const { executedPath, toolInvocations } = deriveTrace(events);
  return {
    ...last,
    runId: first.runId,
    intentText: job.find(({ intentText }) => intentText !== null)?.intentText ?? null,
    executedAt: first.executedAt,
    durationMs: last.executedAt.getTime() - first.executedAt.getTime() + last.durationMs,
    executedPath,
    toolInvocations,
    events,
  };
}

/** As a lesson: the program that would have made the calls, as if it had been run. */
async function learnFromJob(
  lessons: CapabilityLessons,
  job: readonly ExecutionTrace[],
  whole: ExecutionTrace,
): Promise<void> {
  const code = jobProgram(job);
  if (!whole.success || code === null) return;
  const end = whole.events.findLast((event) => isEnd(event) && event.success);
  const result = end && isEnd(end) ? end.result : null;
  const guest = { seed: whole.runId, startedAt: whole.executedAt.getTime(), args: {} };
  await learnCapability(lessons, { ...whole, taskResults: [{ result }], code, guest });
}
