import { RankLearner } from '../../src/core/learning/ranker/rank-learner.ts';
import { WasmMultiplier } from '../../src/core/numeric/kernels.ts';
import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { Trainer, TrainerOptions } from '../../src/engine/ports.ts';

/** Trains in the caller's thread, step by step. */
export function createMemoryTrainer(options: TrainerOptions): Trainer {
  const learner = new RankLearner({ ...options, multiplier: new WasmMultiplier() });
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  return {
    offer: (tools, capabilities) => inOrder(() => learner.offer(tools, capabilities)),
    recall: (runs) => inOrder(() => learner.recall(runs)),
    weights: () => inOrder(() => learner.weights()),
    load: (params) => inOrder(() => learner.load(params)),
    take: (run) => inOrder(() => learner.take(run)),
    train: ({ onProgress, signal } = {}) =>
      inOrder(async () => {
        const training = learner.train();
        for (;;) {
          // Gives the caller a chance to abort.
          await Promise.resolve();
          if (signal?.aborted) throw new PmlError('cancelled', 'The training was stopped');
          const { done, value } = training.next();
          if (done) return value;
          onProgress?.(value);
        }
      }),
    async close() {},
  };
}
