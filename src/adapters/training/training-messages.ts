import type { CandidateEntry } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun, LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';

/** What the worker is asked to do. */
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

/** To the worker; `stop` ends the training that was asked for with this id. */
export type TrainerRequest = { readonly id: number; readonly task: TrainerTask } | { readonly stop: number };

/** From the worker. */
export type TrainerReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: ErrorShape }
  | { readonly id: number; readonly progress: LearningProgress };
