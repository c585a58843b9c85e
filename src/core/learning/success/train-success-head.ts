import { Adam } from '../optim/adam.ts';
import { annealedBeta, type ReplayBuffer } from '../optim/replay-buffer.ts';
import type { SuccessExample, SuccessHead } from './success-head.ts';
import type { TdErrorWindow } from './td-error-window.ts';

const DEFAULTS = {
  steps: 100,
  batch: 32,
  rate: 3e-3,
  warmUp: 20,
  /** Pull of the weights toward where they started. */
  decay: 1e-4,
};

export interface SuccessTraining {
  readonly steps?: number;
  readonly batch?: number;
  readonly rate?: number;
  /** Told the TD errors of every batch. */
  readonly window?: TdErrorWindow;
}

/** Draws batches from the buffer, learns from them by their importance, and tells the buffer what surprised. */
export function* trainSuccessHead(
  head: SuccessHead,
  buffer: ReplayBuffer<SuccessExample>,
  options: SuccessTraining = {},
): Generator<{ step: number; steps: number; loss: number }, void> {
  const { steps = DEFAULTS.steps, batch = DEFAULTS.batch, rate = DEFAULTS.rate, window } = options;
  if (buffer.size === 0) return;
  const adam = new Adam(head.parameters, DEFAULTS.decay);
  for (let step = 0; step < steps; step++) {
    const drawn = buffer.sample(batch, annealedBeta(step, steps));
    const { loss, tdErrors } = head.learn(drawn.items, drawn.weights);
    adam.step(rate * Math.min(1, (step + 1) / DEFAULTS.warmUp));
    buffer.updatePriorities(drawn, tdErrors);
    window?.add(tdErrors);
    yield { step, steps, loss };
  }
}
