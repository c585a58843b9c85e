import { type GateState, NO_EVIDENCE } from '../../core/learning/gate/gate.ts';
import type { LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import { lookIntoModel, type ModelInsight } from '../../core/learning/ranker/model-insight.ts';
import type { Ranker } from '../../core/learning/ranker/ranker.ts';
import { type ExecutionTrace, type RunVerdict, wasGood } from '../../core/vocabulary/execution-trace.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { SuggestionCounts } from '../ports.ts';
import { LEAST_RUNS, type LiveRanker } from './live-ranker.ts';
import { inSlices, type StoredTraining, type TrainingMetrics } from './stored-model.ts';
import type { ReplayFigures, SuccessFigures, SuccessWatch } from './success-watch.ts';

/** What was learned so far, and what it is worth. */
export interface LearningReport {
  readonly embedding: string;
  /** Runs that are looked back on. */
  readonly runs: number;
  /** Below so many, nothing is learned. */
  readonly leastRuns: number;
  readonly gate: GateState;
  /** Null before anything was learned. */
  readonly model: { readonly parameters: number; readonly trainedAt: Date; readonly runs: number } | null;
  /** The training under way. */
  readonly training: LearningProgress | null;
  /** Earlier trainings, newest first; the first one is in use. */
  readonly history: readonly {
    readonly trainedAt: Date;
    readonly runs: number;
    readonly gate: GateState;
    readonly loss: number | null;
    readonly seconds: number;
  }[];
  /** Of the training in use, one per step. */
  readonly losses: readonly number[];
  /** nDCG@10 on the newest runs, before they were learned from; oldest first. */
  readonly evidence: TrainingMetrics['evidence'];
  /** Runs after which the ranker was 10 % better than search; null while it is not. */
  readonly runsToTenPercent: number | null;
  readonly success: SuccessFigures;
  /** Plans that were suggested, and what became of them. */
  readonly suggestions: SuggestionCounts;
}

/** What a person says of a run; `good` is null where it is taken back. */
export type Saying = Pick<RunVerdict, 'reason' | 'by'> & { readonly good: boolean | null };

export interface LearningService {
  report(): Promise<LearningReport>;
  insight(): Promise<LearningInsight>;
  /** Trains on all runs now; where a training is under way, this is the one. Too few runs change nothing. */
  train(signal?: AbortSignal): Promise<LearningReport>;
  /** Ends the training under way; nothing has changed then. */
  stop(): Promise<void>;
  /** Keeps what a person says of a run, in the audit log, too, and learns from it at once. */
  judge(trace: ExecutionTrace, said: Saying): Promise<RunVerdict | null>;
  /** Back to what was learned before; to plain search where there is nothing before. */
  rollBack(): Promise<LearningReport>;
}

/** `recalled` resolves when what was learned in earlier lives is known. */
export function createLearningService(
  ports: Pick<FlowPorts, 'embedder' | 'store' | 'clock' | 'sleep' | 'redact'>,
  ranker: LiveRanker,
  watch: SuccessWatch,
  recalled: () => Promise<void>,
): LearningService {
  const { embedder } = ports;
  const insight = createInsight(ports, ranker, watch);
  const report = async (): Promise<LearningReport> => {
    const history = await ranker.history();
    const current = ranker.current();
    const [newest] = history;
    return {
      embedding: embedder.model,
      runs: ranker.runs().length,
      leastRuns: LEAST_RUNS,
      gate: ranker.gate(),
      model:
        current && newest
          ? {
              parameters: current.model.parameters.reduce((sum, { values }) => sum + values.length, 0),
              trainedAt: newest.createdAt,
              runs: newest.metrics.runs,
            }
          : null,
      training: ranker.training(),
      history: history.map(({ createdAt, metrics }) => ({
        trainedAt: createdAt,
        runs: metrics.runs,
        gate: metrics.gate,
        loss: metrics.losses.at(-1) ?? null,
        seconds: metrics.seconds,
      })),
      losses: newest?.metrics.losses ?? [],
      evidence: newest?.metrics.evidence ?? NO_EVIDENCE,
      runsToTenPercent: runsToTenPercent(history.map(({ metrics }) => metrics)),
      success: watch.figures(),
      suggestions: await ports.store.suggestions.counts(),
    };
  };
  return {
    async report() {
      await recalled();
      return await report();
    },
    async insight() {
      await recalled();
      return await insight();
    },
    async train(signal) {
      await recalled();
      await ranker.train(signal);
      return await report();
    },
    async stop() {
      ranker.stop();
    },
    async judge({ verdict: _, ...trace }, { good, reason: told, by }) {
      const at = ports.clock.now();
      const reason = told === null ? null : String(ports.redact(told));
      const verdict = good === null ? null : { good, reason, by, at: at.toISOString() };
      await ports.store.traces.judge(trace.id, verdict);
      await ports.store.audit.append({
        at,
        actor: by,
        action: 'run_rated',
        subject: trace.runId,
        hash: null,
        details: { trace_id: trace.id, good, ...(reason !== null && { reason }) },
      });
      await recalled();
      await ranker.judge(
        trace.runId,
        verdict
          ? { succeeded: verdict.good, verdict: verdict.good ? 'good' : 'bad' }
          : { succeeded: wasGood(trace) },
      );
      return verdict;
    },
    async rollBack() {
      await recalled();
      await ranker.rollBack();
      return await report();
    },
  };
}

/** Of the trainings that are kept, the earliest after which none fell below. */
function runsToTenPercent(newestFirst: readonly TrainingMetrics[]): number | null {
  let runs: number | null = null;
  for (const { evidence, gate, runs: trained } of newestFirst) {
    const hybrid = evidence.hybrid.reduce((sum, value) => sum + value, 0) / (evidence.hybrid.length || 1);
    if (evidence.hybrid.length === 0 || gate.gain < 0.1 * hybrid) break;
    runs = trained;
  }
  return runs;
}

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
function createInsight(
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
