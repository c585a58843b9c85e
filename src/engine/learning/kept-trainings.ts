import type { FlowPorts } from '../flow-ports.ts';
import { type KeepingPorts, type KeptParams, keptParams } from './kept-params.ts';
import { readMetrics, type TrainingMetrics } from './training-metrics.ts';

const DEFAULTS = {
  /** Trainings that are kept, the one in use among them. */
  kept: 20,
};

export interface KeptTraining {
  readonly createdAt: Date;
  readonly metrics: TrainingMetrics;
}

/** What trainings gave, newest first, for the embedding model in use. */
export interface KeptTrainings extends Omit<KeptParams, 'keep'> {
  history(): Promise<readonly KeptTraining[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: TrainingMetrics): Promise<string>;
  /** Another gateway kept or dropped one. */
  refresh(): void;
}

export function keptTrainings(ports: KeepingPorts & Pick<FlowPorts, 'embedder'>): KeptTrainings {
  const kept = keptParams(ports, ports.embedder.model, DEFAULTS.kept);
  /** Asked for many times a second by whoever watches a training, and each has its parameters with it. */
  let known: readonly KeptTraining[] | null = null;
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
