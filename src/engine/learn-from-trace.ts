import type { ExecutionTrace } from '../core/vocabulary/execution-trace.ts';
import type { Background } from './background.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { LiveGraph } from './graph/live-graph.ts';
import { keepEpisodes } from './learn/keep-episodes.ts';
import { type CapabilityLessons, learnCapability } from './learn/learn-capability.ts';
import type { ObservedOutputs } from './learn/observed-outputs.ts';
import type { Learning } from './learning/open-learning.ts';
import type { SuggestionBook } from './learning/suggestion-book.ts';
import type { Settings } from './ports.ts';

export interface Learner {
  /** A trace that this gateway is about to store. */
  expect(trace: ExecutionTrace): void;
  /** The same when it is committed; nobody waits for it. */
  take(trace: ExecutionTrace): void;
  /** Traces as the graph met them: what others stored is learned of as far as others leave it to do. */
  hear(traces: readonly ExecutionTrace[]): void;
}

const DEFAULTS = {
  /** Traces of others that wait at the most; of more, the newest. */
  heard: 5_000,
  /** Ids of own traces that are known as such. */
  own: 20_000,
};

export interface LearnerParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly settings: () => Settings;
  readonly graph: LiveGraph;
  readonly outputs: ObservedOutputs;
  readonly lessons: CapabilityLessons;
  readonly learning: Pick<Learning, 'learn' | 'hear'>;
  readonly suggestions: Pick<SuggestionBook, 'see'>;
  /** Called when capabilities may have learned of another intent. */
  readonly relateCapabilities: () => Promise<void>;
}

/** Stored traces, one after another in the order they were stored, off the answer's path. */
export function createLearner({
  ports,
  background,
  settings,
  graph,
  outputs,
  lessons,
  learning,
  suggestions,
  relateCapabilities,
}: LearnerParts): Learner {
  let waiting: { readonly trace: ExecutionTrace; readonly isOwn: boolean }[] = [];
  let isLearning = false;
  /** In the order they came, so that the oldest can go. */
  const own = new Set<string>();

  const learn = async (trace: ExecutionTrace, isOwn: boolean, signal: AbortSignal) => {
    if (!isOwn) {
      if (settings().learning.enabled && !signal.aborted) await learning.hear(trace, signal);
      return;
    }
    ports.exporter?.export(trace);
    await keepEpisodes(ports, trace);
    if (!settings().learning.enabled) return;
    await graph.catchUp(signal);
    await outputs.learn(trace);
    await learnCapability(lessons, trace);
    if (trace.code !== null) await relateCapabilities();
    await suggestions.see(trace);
    await learning.learn(trace, signal);
  };
  const learnAll = async (signal: AbortSignal) => {
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { trace, isOwn } = next;
        try {
          await learn(trace, isOwn, signal);
        } catch (error) {
          // One bad trace must not keep the others from being learned.
          ports.logger.log('error', 'Learning from a trace failed', {
            trace_id: trace.id,
            error: String(error),
          });
        }
      }
    } finally {
      isLearning = false;
    }
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

  return {
    expect,
    take(trace) {
      waiting.push({ trace, isOwn: true });
      start();
    },
    hear(traces) {
      const others = traces.filter(({ id }) => !own.has(id));
      // Once is enough, also where the graph meets them again.
      others.forEach(expect);
      waiting.push(...others.map((trace) => ({ trace, isOwn: false })));
      let tooMany = waiting.filter(({ isOwn }) => !isOwn).length - DEFAULTS.heard;
      if (tooMany > 0) waiting = waiting.filter(({ isOwn }) => isOwn || tooMany-- <= 0);
      start();
    },
  };
}
