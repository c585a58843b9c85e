import type { FlowPorts } from '../flow-ports.ts';
import { type KeepingPorts, type StoredParams, storedParams } from './stored-params.ts';
import { readMetrics, type TrainingMetrics } from './training-metrics.ts';

const DEFAULTS = {
  /** Trainings that are kept, the one in use among them. */
  kept: 20,
};

export interface StoredTraining {
  readonly createdAt: Date;
  readonly metrics: TrainingMetrics;
}

/** What trainings gave, newest first, for the embedding model in use. */
export interface StoredTrainings extends Omit<StoredParams, 'keep'> {
  history(): Promise<readonly StoredTraining[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: TrainingMetrics): Promise<string>;
  /** Another gateway kept or dropped one. */
  refresh(): void;
}

export function storedTrainings(ports: KeepingPorts & Pick<FlowPorts, 'embedder'>): StoredTrainings {
  const kept = storedParams(ports, ports.embedder.model, DEFAULTS.kept);
  /** Asked for many times a second by whoever watches a training, and each has its parameters with it. */
  let known: readonly StoredTraining[] | null = null;
  return {
    newest: kept.newest,
    async history() {
      known ??= (await kept.newest(DEFAULTS.kept)).map(({ createdAt, metrics }) => ({
        createdAt,
        metrics: readMetrics(metrics),
      }));
      return known;
    },
    async keep(bytes, metrics) {
      const id = await kept.keep(bytes, { ...metrics });
      known = null;
      return id;
    },
    async drop(training) {
      await kept.drop(training);
      known = null;
    },
    refresh() {
      known = null;
    },
  };
}
