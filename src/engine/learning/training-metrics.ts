import {
  CLOSED_GATE,
  type GateEvidence,
  type GateState,
  NO_EVIDENCE,
} from '../../core/learning/gate/gate.ts';

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
