import {
  CLOSED_GATE,
  type GateEvidence,
  type GateState,
  NO_EVIDENCE,
} from '../../core/learning/gate/gate.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import { decodeFitting, encodeParams, type ParamsBlock } from '../../core/learning/ranker/params-file.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';

const DEFAULTS = {
  /** Learned again when so many runs came since, and this share of those there were. */
  growth: 20,
  share: 0.1,
  /** Nobody goes back on one by itself. */
  kept: 1,
  /** How long work runs before it yields, in milliseconds. */
  slice: 8,
  /** Trainings of the ranker that are kept, the one in use among them. */
  trainings: 20,
};

/** What runs teach beside the ranker: learned from all of them at once, and kept in the store. */
export interface StoredModel<T> {
  /** Null before anything was learned. */
  current(): T | null;
  /** What earlier lives of the gateway learned; the store is asked once. */
  recall(): Promise<void>;
  /** Another gateway learned: takes up what is stored. */
  reload(): Promise<void>;
  /** Whether enough runs are new and this gateway is the one that learns from them. */
  isDue(): boolean;
  /**
   * Learns from the runs there are by now, if enough of them are new; off the path of every answer. Of several
   * gateways on a store the one in the trainer lock does so.
   */
  refresh(signal?: AbortSignal): Promise<void>;
}

export type StoredModelPorts = Pick<
  FlowPorts,
  'store' | 'embedder' | 'crypto' | 'clock' | 'sleep' | 'trainerLock' | 'logger'
>;

export interface StoredModelParts<T> {
  readonly ports: StoredModelPorts;
  /** In the plural, for the log and as its name in the store. */
  readonly what: string;
  /** What the numbers mean: those of another form are discarded and learned again. */
  readonly form: string;
  /** The newest runs, oldest first. */
  readonly runs: () => readonly LearnableRun[];
  /** Null while there is nothing to learn with; gives null where the runs are too few. */
  readonly learn: () => Iterator<unknown, readonly ParamsBlock[] | null> | null;
  /** Throws where the numbers do not fit. */
  readonly read: (values: ReadonlyMap<string, Float32Array>) => T;
}

interface Lesson {
  readonly runs: number;
  /** The id of the newest run; it tells which came later, however many are looked back on. */
  readonly newest: string | undefined;
}

export function createStoredModel<T>({
  ports,
  what,
  form,
  runs,
  learn,
  read,
}: StoredModelParts<T>): StoredModel<T> {
  const { embedder, trainerLock, clock, logger } = ports;
  const { model: embedding, dimension } = embedder;
  const kept = storedParams(ports, `${what} by ${embedding}`, DEFAULTS.kept);
  let model: T | null = null;
  let lesson: Lesson = { runs: 0, newest: undefined };
  /** As the store knows it, whether it could be used or not. */
  let latest: string | null = null;
  let isLearning = false;
  let recalling: Promise<void> | null = null;

  /** What cannot be used is as if it had not been learned. */
  function takeUp({ id, bytes, metrics }: RankerParams): void {
    latest = id;
    try {
      model = read(decodeFitting(bytes, { embedding, dimension, form }));
      lesson = { runs: Number(metrics.runs), newest: String(metrics.newest) };
    } catch (error) {
      const why = PmlError.from(error).message;
      logger.log('warn', `What was learned about ${what} is ignored and will be learned again`, {
        error: why,
      });
    }
  }

  async function reload(): Promise<void> {
    const [stored] = await kept.newest(1);
    if (stored && stored.id !== latest) takeUp(stored);
  }

  function recall(): Promise<void> {
    recalling ??= reload().catch((error: unknown) => {
      recalling = null;
      logger.log('warn', `What was learned about ${what} cannot be read now`, { error: String(error) });
    });
    return recalling;
  }

  function isDue(): boolean {
    if (isLearning || !trainerLock.isHeld()) return false;
    const past = runs();
    const known = past.findLastIndex(({ runId }) => runId !== undefined && runId === lesson.newest);
    const fresh = past.length - 1 - known;
    return fresh >= Math.max(DEFAULTS.growth, DEFAULTS.share * lesson.runs);
  }

  async function learnNow(
    steps: Iterator<unknown, readonly ParamsBlock[] | null>,
    signal: AbortSignal,
  ): Promise<void> {
    const past = runs();
    const startedAt = clock.monotonic();
    const learned = await inSlices(steps, ports, signal);
    // Of too few runs nothing is learned: with the next it is tried again, or it would take twenty more.
    if (!learned) return;
    lesson = { runs: past.length, newest: past.at(-1)?.runId };
    const bytes = encodeParams({ embedding, dimension, runs: past.length, form }, learned);
    // Read back, so that what is used now is to the bit what is used after a restart.
    model = read(decodeFitting(bytes, { embedding, dimension, form }));
    const seconds = (clock.monotonic() - startedAt) / 1000;
    latest = await kept.keep(bytes, { ...lesson, seconds });
    logger.log('info', `Learned ${what}`, { runs: past.length, seconds });
  }

  return {
    current: () => model,
    reload,
    recall,
    isDue,

    async refresh(signal) {
      await recall();
      if (!isDue()) return;
      const steps = learn();
      if (!steps) return;
      isLearning = true;
      const lockLost = new AbortController();
      const unwatch = trainerLock.onChange((isHeld) => {
        if (!isHeld) lockLost.abort();
      });
      try {
        await learnNow(steps, AbortSignal.any([lockLost.signal, ...(signal ? [signal] : [])]));
      } catch (error) {
        // The new holder of the trainer lock learns.
        if (!lockLost.signal.aborted) throw error;
      } finally {
        unwatch();
        isLearning = false;
      }
    },
  };
}

/** Drives long work to its end without holding anybody up; rejects when the signal ends it. */
export async function inSlices<T>(
  steps: Iterator<unknown, T>,
  { clock, sleep }: Pick<FlowPorts, 'clock' | 'sleep'>,
  signal?: AbortSignal,
): Promise<T> {
  let until = clock.monotonic() + DEFAULTS.slice;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (clock.monotonic() < until) continue;
    await sleep(0);
    signal?.throwIfAborted();
    until = clock.monotonic() + DEFAULTS.slice;
  }
}

export interface StoredTraining {
  readonly createdAt: Date;
  readonly metrics: TrainingMetrics;
}

/** The results of trainings, newest first, for the embedding model in use. */
interface StoredTrainings extends Omit<StoredParams, 'keep'> {
  history(): Promise<readonly StoredTraining[]>;
  /** Answers its id. */
  keep(bytes: Uint8Array, metrics: TrainingMetrics): Promise<string>;
  /** Another gateway kept or dropped one. */
  refresh(): void;
}

export function storedTrainings(ports: KeepingPorts & Pick<FlowPorts, 'embedder'>): StoredTrainings {
  const kept = storedParams(ports, ports.embedder.model, DEFAULTS.trainings);
  /** A watched training asks for these many times a second, and each row carries its parameters. */
  let known: readonly StoredTraining[] | null = null;
  return {
    newest: kept.newest,
    async history() {
      known ??= (await kept.newest(DEFAULTS.trainings)).map(({ createdAt, metrics }) => ({
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
