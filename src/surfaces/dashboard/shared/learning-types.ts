import type { getLearningInsight } from '../../../operations/get-learning-insight.ts';
import type { OutputOf } from '../../../operations/operation.ts';

export type LearningInsight = OutputOf<typeof getLearningInsight>;

/** What one part of the model did for the tools that were right, in units of its score. */
export type PartInsight = NonNullable<LearningInsight['model']>['features'][number];
