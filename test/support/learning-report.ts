import type { LearningInsight, LearningReport } from '../../src/engine/learning/learning-service.ts';

/** The report of a gateway that has been trained once and whose gate is open. */
export function sampleLearningReport(over: Partial<LearningReport> = {}): LearningReport {
  const since = Date.parse('2026-11-15T09:30:00Z');
  const gate = {
    open: true,
    gain: 0.125,
    ci95: [0.05, 0.2],
    n: 40,
    far: { gain: 0, ci95: [0, 0], n: 60 },
    since,
  } as const;
  const trainedAt = new Date('2026-11-15T09:00:00Z');
  return {
    embedding: 'tiny/8',
    runs: 1_250,
    leastRuns: 10,
    gate,
    model: { parameters: 50_000, trainedAt, runs: 1_200 },
    training: null,
    history: [{ trainedAt, runs: 1_200, gate, loss: 0.25, seconds: 3.5 }],
    losses: [2.5, 1, 0.25],
    evidence: {
      learned: [1, 0.5],
      hybrid: [0.5, 0.5],
      keys: [1, 2],
      far: { learned: [1], hybrid: [1], keys: [3] },
    },
    runsToTenPercent: 300,
    suggestions: { made: 10, accepted: 6, edited: 1, rejected: 1 },
    success: {
      successRate: 0.9,
      meanPathLength: 2.5,
      meanAbsoluteTdError: 0.1,
      statisticsCache: { hits: 3, misses: 1, hitRate: 0.75 },
    },
    ...over,
  };
}

export function sampleInsight(): LearningInsight {
  return {
    trainings: [
      {
        trainedAt: new Date('2026-11-15T09:00:00Z'),
        runs: 1_200,
        judged: 40,
        learned: 0.75,
        hybrid: 0.5,
        ci95: [0.05, 0.2],
      },
    ],
    model: {
      runs: 40,
      features: [{ name: 'votes', moved: 0.5, importance: 0.75, examples: [] }],
      heads: [{ name: 'head_1', moved: -0.25, importance: 0.25, examples: [] }],
    },
    tdErrors: [0.5, 0.25],
    replay: {
      steps: 3,
      seen: 4,
      shares: [
        { upTo: 1, steps: 2 },
        { upTo: null, steps: 1 },
      ],
      most: 1.5,
    },
  };
}
