import { lookIntoModel, type ModelInsight } from '../../core/learning/ranker/model-insight.ts';
import type { Ranker } from '../../core/learning/ranker/ranker.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { LiveRanker } from './live-ranker.ts';
import { inSlices } from './stored-model.ts';
import type { StoredTraining } from './stored-trainings.ts';
import type { ReplayFigures, SuccessWatch } from './success-watch.ts';

/** How learning went, and what the model looks at: for people who want to know more than whether it serves. */
export interface LearningInsight {
  /** Oldest first; nDCG@10 of both on the runs the gate judged by. */
  readonly trainings: readonly {
    readonly trainedAt: Date;
    readonly runs: number;
    readonly judged: number;
    readonly learned: number | null;
    readonly hybrid: number | null;
    /** 95 % interval of the difference. */
    readonly ci95: readonly [number, number];
  }[];
  /** Null before anything was learned. */
  readonly model: ModelInsight | null;
  /** Mean |TD error| of the latest predictions of success, after each of the newest runs; oldest first. */
  readonly tdErrors: readonly number[];
  readonly replay: ReplayFigures;
}

/** Looks into a model once: it takes a fraction of a second, in slices. */
export function createInsight(
  ports: Pick<FlowPorts, 'clock' | 'sleep'>,
  ranker: LiveRanker,
  watch: SuccessWatch,
): () => Promise<LearningInsight> {
  let seen: { readonly ranker: Ranker; readonly model: Promise<ModelInsight> } | null = null;
  const lookInto = (current: Ranker | null): Promise<ModelInsight> | null => {
    if (!current) return null;
    if (seen?.ranker !== current) {
      const model = inSlices(lookIntoModel(current), ports);
      seen = { ranker: current, model };
      model.catch(() => {
        seen = null;
      });
    }
    return seen!.model;
  };
  return async () => ({
    trainings: (await ranker.history()).map(toPoint).reverse(),
    model: await lookInto(ranker.current()),
    tdErrors: watch.tdErrors(),
    replay: watch.replay(),
  });
}

function toPoint({ createdAt, metrics }: StoredTraining): LearningInsight['trainings'][number] {
  const { runs, evidence, gate } = metrics;
  return {
    trainedAt: createdAt,
    runs,
    judged: gate.n,
    learned: meanOf(evidence.learned),
    hybrid: meanOf(evidence.hybrid),
    ci95: gate.ci95,
  };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function insightToWire({ trainings, model, tdErrors, replay }: LearningInsight) {
  return {
    trainings: trainings.map(({ trainedAt, ...figures }) => ({
      trained_at: trainedAt.toISOString(),
      ...figures,
    })),
    model,
    td_errors: tdErrors,
    replay: {
      ...replay,
      shares: replay.shares.map(({ upTo, steps }) => ({ up_to: upTo, steps })),
    },
  };
}
