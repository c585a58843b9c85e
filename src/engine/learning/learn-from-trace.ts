import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Background } from '../background.ts';
import { type CapabilityLessons, learnCapability } from '../capabilities/learn-capability.ts';
import type { ObservedOutputs } from '../catalogue/observed-outputs.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { LiveGraph } from '../graph/live-graph.ts';
import type { EpisodicEvent, Settings } from '../ports.ts';
import type { Traces } from '../traces/open-traces.ts';
import type { TaskResult } from '../workflow/run-driver.ts';
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
  readonly learning: Pick<Learning, 'learn' | 'hear'>;
  readonly suggestions: Pick<SuggestionLog, 'see'>;
  /** Called when capabilities may have learned of another intent. */
  readonly relateCapabilities: () => Promise<void>;
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
  learning,
  suggestions,
  relateCapabilities,
}: LearnerParts): void {
  let waiting: { readonly trace: ExecutionTrace; readonly isOwn: boolean }[] = [];
  let isLearning = false;
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
  const stepsFor = (trace: ExecutionTrace, isOwn: boolean, signal: AbortSignal): (() => unknown)[] => {
    if (!isOwn) return isEnabled() && !signal.aborted ? [() => learning.hear(trace, signal)] : [];
    const kept = [() => ports.exporter?.export(trace), () => recordEpisodes(ports, trace)];
    if (!isEnabled()) return kept;
    return [
      ...kept,
      () => graph.catchUp(signal),
      () => outputs.learn(trace),
      () => learnCapability(lessons, trace),
      () => trace.code !== null && relateCapabilities(),
      () => suggestions.see(trace),
      () => learning.learn(trace, signal),
    ];
  };
  const learnAll = async (signal: AbortSignal) => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { trace, isOwn } = next;
      for (const step of stepsFor(trace, isOwn, signal)) {
        try {
          await patiently(step, signal);
        } catch (error) {
          // What fails must not keep the rest, or the traces after it, from being learned.
          ports.logger.log('error', 'Learning from a trace failed', {
            trace_id: trace.id,
            error: String(error),
          });
        }
      }
    }
    isLearning = false;
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

  traces.onStoring(expect);
  traces.onStored((trace) => {
    waiting.push({ trace, isOwn: true });
    start();
  });
  if (isShared) graph.onLearned(takeOthers);
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
