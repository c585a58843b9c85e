/** The training thread: keeps training from blocking the gateway. Runs one task after the other. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { CandidateEntry } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun, LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import { RankLearner } from '../../core/learning/ranker/rank-learner.ts';
import { WasmMultiplier } from '../../core/numeric/kernels.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { TrainerOptions } from '../../engine/ports.ts';

/** A task for the worker. */
export type TrainerTask =
  | {
      readonly do: 'offer';
      readonly tools: readonly CandidateEntry[];
      readonly capabilities: readonly CandidateEntry[];
    }
  | { readonly do: 'recall'; readonly runs: readonly LearnableRun[] }
  | { readonly do: 'weights' }
  | { readonly do: 'load'; readonly params: Uint8Array | null }
  | { readonly do: 'take'; readonly run: LearnableRun }
  | { readonly do: 'train' };

/** To the worker; `stop` ends the training requested with this id. */
export type TrainerRequest = { readonly id: number; readonly task: TrainerTask } | { readonly stop: number };

/** From the worker. */
export type TrainerReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: ErrorShape }
  | { readonly id: number; readonly progress: LearningProgress };

const DEFAULTS = {
  /**
   * Milliseconds without a task after which garbage is collected. The engine collects when it allocates, so that what a
   * training worked with, 60 MB after a thousand runs, would stay until the next one.
   */
  quietMs: 3_000,
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

const port = parentPort!;
const learner = new RankLearner({ ...(workerData as TrainerOptions), multiplier: new WasmMultiplier() });
const stopped = new Set<number>();
let last: Promise<void> = Promise.resolve();
/** Tasks that came and are not answered. */
let open = 0;
const quiet = setTimeout(() => open === 0 && collectGarbage(), DEFAULTS.quietMs).unref();

port.on('message', (request: TrainerRequest) => {
  if ('stop' in request) stopped.add(request.stop);
  else {
    open++;
    last = last.then(() => answer(request.id, request.task));
  }
});

async function answer(id: number, task: TrainerTask): Promise<void> {
  try {
    tell({ id, result: await perform(id, task) });
  } catch (error) {
    tell({ id, error: PmlError.from(error).toShape() });
  }
  open--;
  quiet.refresh();
}

async function perform(id: number, task: TrainerTask): Promise<unknown> {
  switch (task.do) {
    case 'offer':
      return learner.offer(task.tools, task.capabilities);
    case 'recall':
      return learner.recall(task.runs);
    case 'weights':
      return learner.weights();
    case 'load':
      return learner.load(task.params);
    case 'take':
      return learner.take(task.run);
    case 'train':
      return await train(id);
  }
}

async function train(id: number): Promise<unknown> {
  const training = learner.train();
  for (;;) {
    // Yields, so that a stop request can arrive between two steps.
    await setImmediate();
    if (stopped.delete(id)) throw new PmlError('cancelled', 'The training was stopped');
    const { done, value } = training.next();
    if (done) return value;
    tell({ id, progress: value });
  }
}

function tell(reply: TrainerReply): void {
  port.postMessage(reply);
}
