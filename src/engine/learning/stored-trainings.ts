import {
  CLOSED_GATE,
  type GateEvidence,
  type GateState,
  NO_EVIDENCE,
} from '../../core/learning/gate/gate.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';

const DEFAULTS = {
  /** Trainings that are kept, the one in use among them. */
  kept: 20,
};

export interface StoredTraining {
  readonly createdAt: Date;
  readonly metrics: TrainingMetrics;
}

/** The results of trainings, newest first, for the embedding model in use. */
export interface StoredTrainings extends Omit<StoredParams, 'keep'> {
  history(): Promise<readonly StoredTraining[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: TrainingMetrics): Promise<string>;
  /** Another gateway kept or dropped one. */
  refresh(): void;
}

export function storedTrainings(ports: KeepingPorts & Pick<FlowPorts, 'embedder'>): StoredTrainings {
  const kept = storedParams(ports, ports.embedder.model, DEFAULTS.kept);
  /** A watched training asks for these many times a second, and each row carries its parameters. */
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

/** The results of learning, newest first. */
interface StoredParams {
  newest(count: number): Promise<readonly RankerParams[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: RankerParams['metrics']): Promise<string>;
  drop(params: RankerParams): Promise<void>;
}

type KeepingPorts = Pick<FlowPorts, 'store' | 'crypto' | 'clock'>;

/** Under the name that `RankerParams.model` speaks of; of more than `most`, the oldest go. */
export function storedParams(
  { store, crypto, clock }: KeepingPorts,
  model: string,
  most: number,
): StoredParams {
  const newest = (count: number) => store.rankerParams.list(model, count);
  return {
    newest,
    async keep(bytes, metrics) {
      const id = crypto.randomUuid();
      await store.rankerParams.save({ id, model, bytes, metrics, createdAt: clock.now() });
      const all = await newest(most * 2);
      for (const old of all.slice(most)) await store.rankerParams.remove(old.id);
      return id;
    },
    async drop({ id }) {
      await store.rankerParams.remove(id);
    },
  };
}

/** What is kept beside learned parameters. */
export interface TrainingMetrics {
  /** Runs that were learned from. */
  readonly runs: number;
  /** Runs that were looked back on, those of unknown tools among them. */
  readonly seen: number;
  readonly gate: GateState;
  /** nDCG@10 on runs that had not been learned from, oldest first. */
  readonly evidence: GateEvidence;
  /** One per step. */
  readonly losses: readonly number[];
  readonly seconds: number;
}

const NOTHING: TrainingMetrics = {
  runs: 0,
  seen: 0,
  gate: CLOSED_GATE,
  evidence: NO_EVIDENCE,
  losses: [],
  seconds: 0,
};

/** As the store gave it back; what an older version did not keep is as if nothing had been measured. */
export function readMetrics(stored: Readonly<Record<string, unknown>>): TrainingMetrics {
  const { gate, evidence, ...rest } = stored as Partial<TrainingMetrics>;
  return {
    ...NOTHING,
    ...rest,
    gate: { ...CLOSED_GATE, ...gate },
    evidence: { ...NO_EVIDENCE, ...evidence },
  };
}
