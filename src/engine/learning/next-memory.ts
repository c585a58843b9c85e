import type { Candidates, IntentForms } from '../../core/learning/candidates.ts';
import { learnNext } from '../../core/learning/learn-next.ts';
import type { LearnableRun } from '../../core/learning/learn-ranker.ts';
import type { NextModel } from '../../core/learning/next-model.ts';
import { rememberSequences } from '../../core/learning/past-sequences.ts';
import { WasmMultiplier } from '../../core/numeric/wasm-multiplier.ts';
import { type NextAnswer, predictNext } from '../../core/planning/predict-next.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { inSlices } from './in-slices.ts';

const DEFAULTS = {
  /** Learned anew when there are so many runs more, and this share more. */
  growth: 20,
  share: 0.1,
  seed: 1,
};

/** What past runs say of what comes next. */
export interface NextMemory {
  /** Null before anything was learned. */
  predict(intent: IntentForms, executed: readonly string[]): NextAnswer[] | null;
  /** Learns from the runs there are by now, if they are many more than before; off the path of every answer. */
  refresh(signal?: AbortSignal): Promise<void>;
}

export interface NextMemoryParts {
  readonly ports: Pick<FlowPorts, 'clock' | 'sleep'>;
  /** The newest runs, oldest first; another list whenever there is another run. */
  readonly runs: () => readonly LearnableRun[];
  /** Null while nothing was learned. */
  readonly candidates: () => Candidates | null;
}

export function createNextMemory({ ports, runs, candidates }: NextMemoryParts): NextMemory {
  const multiplier = new WasmMultiplier();
  let model: NextModel | null = null;
  let learnedFrom = 0;
  let isLearning = false;
  let last: { of: readonly unknown[]; history: ReturnType<typeof rememberSequences> } | undefined;

  /** Made once per state of what it is made of. */
  function history(known: Candidates) {
    const past = runs();
    if (last?.of[0] !== known || last.of[1] !== past) {
      last = { of: [known, past], history: rememberSequences(known, past) };
    }
    return last.history;
  }

  return {
    predict(intent, executed) {
      const known = candidates();
      if (!known || !model) return null;
      return predictNext({ candidates: known, history: history(known), model }, intent, executed);
    },

    async refresh(signal) {
      const known = candidates();
      const past = runs();
      const isDue = past.length - learnedFrom >= Math.max(DEFAULTS.growth, DEFAULTS.share * learnedFrom);
      if (!known || !isDue || isLearning) return;
      isLearning = true;
      try {
        const lesson = { candidates: known, runs: past, multiplier, seed: DEFAULTS.seed };
        ({ model } = await inSlices(learnNext(lesson), ports, signal));
        learnedFrom = past.length;
      } finally {
        isLearning = false;
      }
    },
  };
}
