import { RankLearner } from '../../core/learning/rank-learner.ts';
import { WasmMultiplier } from '../../core/numeric/wasm-multiplier.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Trainer, TrainerOptions } from '../ports.ts';

/** Learns in the thread of whoever asks, a step at a time. */
export function createMemoryTrainer(options: TrainerOptions): Trainer {
  const learner = new RankLearner({ ...options, multiplier: new WasmMultiplier() });
  return {
    offer: async (tools, capabilities) => learner.offer(tools, capabilities),
    recall: async (runs) => learner.recall(runs),
    load: async (params) => learner.load(params),
    take: async (run) => learner.take(run),
    async train({ onProgress, signal } = {}) {
      const training = learner.train();
      for (;;) {
        // Lets whoever wants to stop it do so.
        await Promise.resolve();
        if (signal?.aborted) throw new PmlError('cancelled', 'The training was stopped');
        const { done, value } = training.next();
        if (done) return value;
        onProgress?.(value);
      }
    },
    async close() {},
  };
}
