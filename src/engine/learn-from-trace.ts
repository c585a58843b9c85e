import type { ExecutionTrace } from '../core/vocabulary/execution-trace.ts';
import type { Background } from './background.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { LiveGraph } from './graph/live-graph.ts';
import { keepEpisodes } from './learn/keep-episodes.ts';
import { type CapabilityLessons, learnCapability } from './learn/learn-capability.ts';
import type { ObservedOutputs } from './learn/observed-outputs.ts';
import type { Learning } from './learning/open-learning.ts';
import type { Settings } from './ports.ts';

export interface Learner {
  /** Of a trace that is committed; nobody waits for it. */
  take(trace: ExecutionTrace): void;
}

export interface LearnerParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly settings: () => Settings;
  readonly graph: LiveGraph;
  readonly outputs: ObservedOutputs;
  readonly lessons: CapabilityLessons;
  readonly learning: Pick<Learning, 'learn'>;
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
  relateCapabilities,
}: LearnerParts): Learner {
  const waiting: ExecutionTrace[] = [];
  let isLearning = false;

  const learn = async (trace: ExecutionTrace, signal: AbortSignal) => {
    ports.exporter?.export(trace);
    await keepEpisodes(ports, trace);
    if (!settings().learning.enabled) return;
    await graph.catchUp(signal);
    await outputs.learn(trace);
    await learnCapability(lessons, trace);
    if (trace.code !== null) await relateCapabilities();
    await learning.learn(trace, signal);
  };
  const learnAll = async (signal: AbortSignal) => {
    try {
      for (let trace = waiting.shift(); trace; trace = waiting.shift()) {
        try {
          await learn(trace, signal);
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

  return {
    take(trace) {
      waiting.push(trace);
      if (isLearning) return;
      isLearning = true;
      background.run('Learning from traces', learnAll);
    },
  };
}
