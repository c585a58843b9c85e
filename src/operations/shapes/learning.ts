import { z } from 'zod';
import type { LearningReport } from '../../engine/learning/learning-service.ts';

const figures = z.object({ gain: z.number(), ci95: z.tuple([z.number(), z.number()]), n: z.number() });

const gate = figures
  .extend({
    open: z.boolean(),
    /** The same on foreign questions. */
    far: figures,
    since: z.string().nullable(),
  })
  .meta({ id: 'Gate' });

/** nDCG@10 of the ranker and of plain search, per query. */
const judged = z.object({ learned: z.array(z.number()), hybrid: z.array(z.number()) });

export const learning = z
  .object({
    embedding: z.string(),
    runs: z.number(),
    least_runs: z.number(),
    gate,
    model: z.object({ parameters: z.number(), trained_at: z.string(), runs: z.number() }).nullable(),
    /** The current training. */
    training: z
      .object({ stage: z.string(), done: z.number(), total: z.number(), loss: z.number().optional() })
      .nullable(),
    /** Newest first; the first one is in use. */
    history: z.array(
      z.object({
        trained_at: z.string(),
        runs: z.number(),
        gate,
        loss: z.number().nullable(),
        seconds: z.number(),
      }),
    ),
    losses: z.array(z.number()),
    evidence: judged.extend({ far: judged }),
    runs_to_ten_percent: z.number().nullable(),
    /** Suggested plans by outcome; the rate is null until one was accepted or rejected. */
    suggestions: z.object({
      made: z.number(),
      accepted: z.number(),
      edited: z.number(),
      rejected: z.number(),
      acceptance_rate: z.number().nullable(),
    }),
    success: z.object({
      success_rate: z.number().nullable(),
      mean_path_length: z.number().nullable(),
      mean_absolute_td_error: z.number().nullable(),
      statistics_cache: z.object({ hits: z.number(), misses: z.number(), hit_rate: z.number() }),
    }),
  })
  .meta({ id: 'Learning' });

export function learningToWire(report: LearningReport) {
  const { model, success } = report;
  return {
    embedding: report.embedding,
    runs: report.runs,
    least_runs: report.leastRuns,
    gate: gateToWire(report.gate),
    model: model && {
      parameters: model.parameters,
      trained_at: model.trainedAt.toISOString(),
      runs: model.runs,
    },
    training: report.training,
    history: report.history.map(({ trainedAt, runs, gate: state, loss, seconds }) => ({
      trained_at: trainedAt.toISOString(),
      runs,
      gate: gateToWire(state),
      loss,
      seconds,
    })),
    losses: report.losses,
    evidence: { ...judgedToWire(report.evidence), far: judgedToWire(report.evidence.far) },
    runs_to_ten_percent: report.runsToTenPercent,
    suggestions: suggestionsToWire(report.suggestions),
    success: {
      success_rate: success.successRate,
      mean_path_length: success.meanPathLength,
      mean_absolute_td_error: success.meanAbsoluteTdError,
      statistics_cache: {
        hits: success.statisticsCache.hits,
        misses: success.statisticsCache.misses,
        hit_rate: success.statisticsCache.hitRate,
      },
    },
  };
}

function judgedToWire({ learned, hybrid }: LearningReport['evidence']['far']) {
  return { learned, hybrid };
}

function suggestionsToWire({ made, accepted, edited, rejected }: LearningReport['suggestions']) {
  const settled = accepted + edited + rejected;
  return { made, accepted, edited, rejected, acceptance_rate: settled === 0 ? null : accepted / settled };
}

function gateToWire({ since, ...state }: LearningReport['gate']) {
  return { ...state, since: since === null ? null : new Date(since).toISOString() };
}
