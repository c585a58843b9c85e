import { z } from 'zod';
import { insightToWire } from '../engine/learning/learning-service.ts';
import { operation } from './operation.ts';

/** What one part of the model contributed to the scores of correct tools. */
const partInsight = z
  .object({
    /** A feature, or `head_1`, `head_2`, … */
    name: z.string(),
    moved: z.number(),
    importance: z.number(),
    examples: z.array(z.object({ node: z.string(), intent: z.string(), moved: z.number() })),
  })
  .meta({ id: 'PartInsight' });

export const getLearningInsight = operation({
  name: 'get_learning_insight',
  right: 'read',
  summary: 'History of training, and how the model uses its features',
  input: z.strictObject({}),
  output: z.object({
    /**
     * Oldest first; nDCG@10 of the ranker and of plain search, and the confidence interval of the difference.
     */
    trainings: z.array(
      z.object({
        trained_at: z.string(),
        runs: z.number(),
        judged: z.number(),
        learned: z.number().nullable(),
        hybrid: z.number().nullable(),
        ci95: z.tuple([z.number(), z.number()]),
      }),
    ),
    model: z
      .object({ runs: z.number(), features: z.array(partInsight), heads: z.array(partInsight) })
      .nullable(),
    /** Oldest first. */
    td_errors: z.array(z.number()),
    replay: z.object({
      steps: z.number(),
      seen: z.number(),
      /**
       * Steps by how often they are sampled relative to the mean: up to `up_to` times; null means more often.
       */
      shares: z.array(z.object({ up_to: z.number().nullable(), steps: z.number() })),
      most: z.number().nullable(),
    }),
  }),
  http: { method: 'GET', path: '/learning/insight' },
  run: async ({ gateway }) => insightToWire(await gateway.learning.insight()),
});
