import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';
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
export interface KeptTrainings {
  newest(count: number): Promise<readonly RankerParams[]>;
  history(): Promise<readonly KeptTraining[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: TrainingMetrics): Promise<string>;
  drop(training: RankerParams): Promise<void>;
  /** Another gateway kept or dropped one. */
  refresh(): void;
}

export function keptTrainings({
  store,
  embedder,
  crypto,
  clock,
}: Pick<FlowPorts, 'store' | 'embedder' | 'crypto' | 'clock'>): KeptTrainings {
  /** Asked for many times a second by whoever watches a training, and each has its parameters with it. */
  let known: readonly KeptTraining[] | null = null;
  const newest = (count: number) => store.rankerParams.list(embedder.model, count);
  return {
    newest,
    async history() {
      known ??= (await newest(DEFAULTS.kept)).map(({ createdAt, metrics }) => ({
        createdAt,
        metrics: readMetrics(metrics),
      }));
      return known;
    },
    async keep(bytes, metrics) {
      const id = crypto.randomUuid();
      await store.rankerParams.save({
        id,
        model: embedder.model,
        bytes,
        metrics: { ...metrics },
        createdAt: clock.now(),
      });
      const all = await newest(DEFAULTS.kept * 2);
      for (const old of all.slice(DEFAULTS.kept)) await store.rankerParams.remove(old.id);
      known = null;
      return id;
    },
    async drop({ id }) {
      await store.rankerParams.remove(id);
      known = null;
    },
    refresh() {
      known = null;
    },
  };
}
