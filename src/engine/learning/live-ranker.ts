import {
  CLOSED_GATE,
  decideGate,
  evidenceKey,
  type GateEvidence,
  type GateState,
  NO_EVIDENCE,
} from '../../core/learning/gate/gate.ts';
import { type CandidateEntry, Candidates } from '../../core/learning/ranker/candidates.ts';
import { type Familiarity, UNFAMILIAR } from '../../core/learning/ranker/familiarity.ts';
import {
  keptFrom,
  type LearnableRun,
  type LearningProgress,
  type Probe,
  placeRun,
} from '../../core/learning/ranker/learn-ranker.ts';
import { decodeParams } from '../../core/learning/ranker/params-file.ts';
import { PastRuns } from '../../core/learning/ranker/past-runs.ts';
import { familiarityIn, type Trained } from '../../core/learning/ranker/rank-learner.ts';
import { type RankModel, readRankModel } from '../../core/learning/ranker/rank-model.ts';
import { Ranker } from '../../core/learning/ranker/ranker.ts';
import { WasmMultiplier } from '../../core/numeric/kernels.ts';
import { createRandom } from '../../core/numeric/random.ts';
import type { WordIndex } from '../../core/retrieval/text-scores.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';
import { readMetrics, type StoredTraining, storedTrainings, type TrainingMetrics } from './stored-model.ts';

/** Runs below which search serves alone and nothing is trained. */
export const LEAST_RUNS = 10;

const DEFAULTS = {
  /** Runs that are looked back on, the newest. */
  runs: 5_000,
  /** Trained again after so many more runs, and this share more than last time. */
  growth: 20,
  share: 0.1,
  /** Runs beyond these that are kept in mind, at most. */
  reminded: 1_000,
  /** Newest runs that the gate judges by. */
  judged: 100,
  seed: 1,
  /** Milliseconds at the least between two events that tell how far a training is. */
  betweenTold: 300,
};

/** The ranker in use: what can be ranked, what was run, what was learned, and whether it may serve. */
export interface LiveRanker {
  /** Ranks whatever the gate says; null before anything was learned. */
  current(): Ranker | null;
  gate(): GateState;
  /** What the last training here learned from a part of the runs; null before one, or where there are too few. */
  probe(): Probe | null;
  runs(): readonly LearnableRun[];
  /** How far a run is believed, in [0, 1]. */
  beliefIn(run: LearnableRun): number;
  training(): LearningProgress | null;
  /** Newest first. */
  history(): Promise<readonly StoredTraining[]>;
  /** What can be ranked from now on. */
  offer(
    tools: readonly CandidateEntry[],
    capabilities: readonly CandidateEntry[],
    /** Of these tools: the one that search looks into. */
    index?: WordIndex,
  ): Promise<void>;
  /** At the start: runs of earlier, oldest first, and the parameters learned from them. */
  recall(runs: readonly LearnableRun[]): Promise<void>;
  /** Runs from beyond those that are recalled, by id, because they are like what is asked for; kept for a while. */
  remind(runs: ReadonlyMap<string, LearnableRun>): void;
  /** A run that just ended is one of the past from now on. */
  know(run: LearnableRun): void;
  /** What a person said of a run, from now on; null: nothing any more. */
  judge(runId: string, told: Pick<LearnableRun, 'succeeded' | 'verdict'>): Promise<void>;
  /** Learns from a run that is known, and from all of them when there are enough new ones. */
  learn(run: LearnableRun, signal?: AbortSignal): Promise<void>;
  /** Another gateway trained, or went back: takes up what is stored. */
  reload(): Promise<void>;
  /**
   * Trains on all runs now; where a training is under way, this is the one. Of several gateways on a store one
   * trains, the others refuse to.
   */
  train(signal?: AbortSignal): Promise<void>;
  /** Ends the training under way; nothing has changed then. */
  stop(): void;
  /** Back to the parameters before these; to plain search where there are none. */
  rollBack(): Promise<void>;
}

export function createLiveRanker(
  ports: Pick<
    FlowPorts,
    'store' | 'embedder' | 'trainer' | 'trainerLock' | 'clock' | 'crypto' | 'events' | 'logger'
  >,
): LiveRanker {
  const { embedder, trainer, trainerLock, clock, events, logger } = ports;
  const kept = storedTrainings(ports);
  const multiplier = new WasmMultiplier();
  const random = createRandom(DEFAULTS.seed);
  let entries: readonly [readonly CandidateEntry[], readonly CandidateEntry[]] = [[], []];
  let candidates = new Candidates([], [], embedder.dimension);
  let runs: readonly LearnableRun[] = [];
  /** How far runs are believed, as the trainer told: weighing each by all others takes too long here. */
  const believed = new WeakMap<LearnableRun, number>();
  let past = new PastRuns([], candidates);
  const reminded = new Set<string>();
  let bytes: Uint8Array | null = null;
  let model: RankModel | null = null;
  let familiarity: Familiarity = UNFAMILIAR;
  let ranker: Ranker | null = null;
  let gate: GateState = CLOSED_GATE;
  let evidence: GateEvidence = NO_EVIDENCE;
  let probe: Trained['probe'] = null;
  /** Runs there were when all of them were last trained on, and those that came since. */
  let trainedOn = 0;
  let fresh = 0;
  let briefing: Promise<void> | null = null;
  /** The runs that the trainer knows, in its order: those that just ended come to it one by one. */
  let taught: readonly LearnableRun[] = [];
  let underWay: Promise<void> | null = null;
  let progress: LearningProgress | null = null;
  let stopping = new AbortController();
  /** What is in use, as the store knows it. */
  let inUse: string | null = null;
  trainerLock.onChange((isHeld) => {
    if (!isHeld) stopping.abort();
  });

  /** The trainer is told of nothing until there is something to learn: it costs a thread. */
  function brief(): Promise<void> {
    briefing ??= tell(entries, runs, bytes);
    return briefing;
  }

  async function tell(offered: typeof entries, earlier: typeof runs, params: typeof bytes): Promise<void> {
    taught = earlier;
    await trainer.offer(...offered);
    await trainer.recall(earlier);
    if (params) await trainer.load(params);
  }

  function believe(told: typeof runs, weights: readonly number[]): void {
    if (told.length !== weights.length) return;
    for (const [i, run] of told.entries()) believed.set(run, weights[i]!);
    lookBack();
  }

  function pastOf(some: typeof runs): PastRuns {
    const known = some.flatMap((run) => {
      const placed = placeRun(candidates, run);
      return placed ? [{ placed, weight: beliefIn(run) }] : [];
    });
    const placed = new PastRuns(
      known.map((each) => each.placed),
      candidates,
    );
    placed.weigh(known.map(({ weight }) => weight));
    return placed;
  }

  function lookBack(): void {
    reminded.clear();
    past = pastOf(runs);
    ranker = model && new Ranker(candidates, past, model, familiarity);
  }

  function remember(run: LearnableRun): void {
    const placed = placeRun(candidates, run);
    if (placed) past.add(placed, beliefIn(run));
  }

  function beliefIn(run: LearnableRun): number {
    if (run.verdict) return run.verdict === 'good' ? 1 : 0;
    return believed.get(run) ?? (run.succeeded ? 1 : 0);
  }

  function read(params: Uint8Array): { readonly model: RankModel; readonly familiarity: Familiarity } {
    const { values } = decodeParams(params);
    return {
      model: readRankModel(multiplier, embedder.dimension, random, values),
      familiarity: familiarityIn(values),
    };
  }

  function use(params: Uint8Array): void {
    ({ model, familiarity } = read(params));
    bytes = params;
    ranker = new Ranker(candidates, past, model, familiarity);
  }

  function forget(): void {
    inUse = null;
    bytes = null;
    model = null;
    ranker = null;
    gate = CLOSED_GATE;
    evidence = NO_EVIDENCE;
  }

  function judge(): void {
    const before = gate.open;
    gate = decideGate(gate, evidence, { random, now: clock.now().getTime() });
    if (gate.open === before) return;
    const { open, gain, ci95, n } = gate;
    events.emit({ type: 'gate_changed', open, gain, ci95: [...ci95], n });
  }

  let toldAt = Number.NEGATIVE_INFINITY;
  function tellProgress(now: LearningProgress): void {
    if (clock.monotonic() < toldAt + DEFAULTS.betweenTold) return;
    toldAt = clock.monotonic();
    events.emit({ type: 'training_progress', ...now });
  }

  /** What cannot be read is as if it had not been learned: search serves until the next training. */
  function takeUp(params: RankerParams | undefined): TrainingMetrics | null {
    forget();
    if (!params) return null;
    try {
      use(params.bytes);
    } catch (error) {
      logger.log('warn', 'What was learned cannot be used', { error: PmlError.from(error).message });
      return null;
    }
    inUse = params.id;
    const metrics = readMetrics(params.metrics);
    ({ gate, evidence } = metrics);
    return metrics;
  }

  async function learn(run: LearnableRun): Promise<void> {
    await brief();
    const line = bytes;
    const taken = await trainer.take(run);
    // Meanwhile others may have been taken up: a step beyond these would bring them back.
    if (!taken || bytes !== line) return;
    use(taken.params);
    if (!taken.judged) return;
    evidence = {
      ...evidence,
      learned: newest([...evidence.learned, taken.judged.learned]),
      hybrid: newest([...evidence.hybrid, taken.judged.hybrid]),
      keys: newest([...evidence.keys, evidenceKey(run.key)]),
    };
    judge();
  }

  async function trainNow(signal: AbortSignal): Promise<void> {
    if (!(await trainerLock.claim())) {
      throw new PmlError('not_available', 'Another gateway on this store does the training', {
        hint: 'It trains as runs come in, and what it learns is used here as well.',
      });
    }
    const startedAt = clock.monotonic();
    await brief();
    const told = taught;
    const wereFresh = fresh;
    const trained = await trainer.train({
      signal,
      onProgress: (now) => {
        progress = now;
        tellProgress(now);
      },
    });
    signal.throwIfAborted();
    trainedOn = told.length;
    fresh -= wereFresh;
    if (trained.runs === 0) return;
    believe(told, trained.weights);
    use(trained.params);
    ({ probe } = trained);
    evidence = {
      learned: judgedAgain(evidence.learned, trained.evidence.learned),
      hybrid: judgedAgain(evidence.hybrid, trained.evidence.hybrid),
      keys: judgedAgain(evidence.keys, trained.evidence.keys),
      far: trained.evidence.far,
    };
    judge();
    const { losses } = trained;
    const seconds = (clock.monotonic() - startedAt) / 1000;
    inUse = await kept.keep(trained.params, {
      runs: trained.runs,
      seen: told.length,
      gate,
      evidence,
      losses,
      seconds,
    });
    events.emit({ type: 'ranker_trained', runs: trained.runs, loss: losses.at(-1) ?? 0, seconds });
  }

  /** Who asks for a training means all runs: those that wait to be learned from, too. A job is learned when it is over. */
  async function tellKnown(): Promise<void> {
    if (runs.length < LEAST_RUNS) return;
    await brief();
    const untold = runs.filter((run) => !run.isJob && !taught.includes(run));
    if (untold.length === 0) return;
    taught = [...taught, ...untold].slice(-DEFAULTS.runs);
    await trainer.recall(untold);
  }

  async function train(signal?: AbortSignal): Promise<void> {
    if (underWay) return await underWay;
    if (runs.length < LEAST_RUNS) return;
    progress = { stage: 'features', done: 0, total: runs.length };
    stopping = new AbortController();
    underWay = trainNow(signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal)
      .catch((error: unknown) => {
        events.emit({ type: 'training_stopped' });
        throw error;
      })
      .finally(() => {
        progress = null;
        underWay = null;
      });
    await underWay;
  }

  return {
    current: () => ranker,
    gate: () => gate,
    runs: () => runs,

    probe() {
      if (!probe) return null;
      const { leftOut } = probe;
      const learned = read(probe.params);
      const seen = pastOf(keptFrom(runs, leftOut));
      return { ranker: new Ranker(candidates, seen, learned.model, learned.familiarity), leftOut };
    },

    beliefIn,
    training: () => progress,
    history: () => kept.history(),

    async offer(tools, capabilities, index) {
      entries = [tools, capabilities];
      candidates = new Candidates(tools, capabilities, embedder.dimension, index);
      lookBack();
      if (briefing) await trainer.offer(tools, capabilities);
    },

    async recall(earlier) {
      runs = [...earlier, ...runs].slice(-DEFAULTS.runs);
      lookBack();
      const [latest] = await kept.newest(1);
      const metrics = takeUp(latest);
      if (!metrics) return;
      trainedOn = metrics.seen;
      fresh = Math.max(0, runs.length - trainedOn);
      try {
        await brief();
        const told = taught;
        believe(told, await trainer.weights());
      } catch (error) {
        logger.log('warn', 'Past runs could not be weighted', { error: PmlError.from(error).message });
      }
    },

    remind(older) {
      const fresh = [...older].filter(([id]) => !reminded.has(id));
      if (reminded.size + fresh.length > DEFAULTS.reminded) lookBack();
      for (const [id, run] of fresh) {
        reminded.add(id);
        remember(run);
      }
    },

    know(run) {
      const before = run.isJob ? runs.findLastIndex(({ isJob, runId }) => isJob && runId === run.runId) : -1;
      runs = [...runs.filter((_, i) => i !== before), run].slice(-DEFAULTS.runs);
      // Forgets runs that are too old or were replaced.
      if (before >= 0 || past.runs.length > DEFAULTS.runs + DEFAULTS.reminded) lookBack();
      else remember(run);
      events.emit({ type: 'run_learned', runs: runs.length });
    },

    async judge(runId, told) {
      const judged = new Map(
        runs.flatMap((run) => (run.runId === runId ? [[run, { ...withoutVerdict(run), ...told }]] : [])),
      );
      if (judged.size === 0) return;
      const isTold = taught.some((run) => judged.has(run));
      runs = runs.map((run) => judged.get(run) ?? run);
      taught = taught.map((run) => judged.get(run) ?? run);
      lookBack();
      if (briefing && isTold) await trainer.recall([...judged.values()]);
    },

    async learn(run, signal) {
      fresh++;
      const isTold = !briefing || taught.includes(run);
      if (!isTold) taught = [...taught, run].slice(-DEFAULTS.runs);
      if (!trainerLock.isHeld()) {
        // Should the trainer lock fall to this gateway, its trainer knows of the run.
        if (!isTold) await trainer.recall([run]);
        return;
      }
      if (!isTold) await learn(run);
      else if (runs.length >= LEAST_RUNS) await brief();
      const isDue = fresh >= Math.max(DEFAULTS.growth, DEFAULTS.share * trainedOn);
      if (!isDue || underWay) return;
      try {
        await train(signal);
      } catch (error) {
        if (PmlError.from(error).code !== 'cancelled') throw error;
        // A person stopped it: the next run must not start it again.
        fresh = 0;
      }
    },

    async reload() {
      kept.refresh();
      const [latest] = await kept.newest(1);
      if ((latest?.id ?? null) === inUse) return;
      const metrics = takeUp(latest);
      trainedOn = metrics?.seen ?? 0;
      fresh = 0;
      if (briefing) await trainer.load(bytes);
    },

    async train(signal) {
      await tellKnown();
      await train(signal);
    },
    stop: () => stopping.abort(),

    async rollBack() {
      stopping.abort();
      await underWay?.catch(() => {});
      const [latest, before] = await kept.newest(2);
      if (!latest) {
        throw new PmlError('not_found', 'No training to roll back', {
          hint: 'Run "pml train" first.',
        });
      }
      await kept.drop(latest);
      takeUp(before);
      // What was just gone back on would be learned again at once.
      fresh = 0;
      if (briefing) await trainer.load(bytes);
    },
  };
}

/**
 * Held back from a training are the newest runs, which were judged before, too: the new verdicts take the place of
 * those. What was judged earlier stays, or a gate that a few dozen runs opened would close with each training.
 */
function judgedAgain<T>(before: readonly T[], heldBack: readonly T[]): T[] {
  return newest([...before.slice(0, Math.max(0, before.length - heldBack.length)), ...heldBack]);
}

function withoutVerdict({ verdict: _, ...run }: LearnableRun): LearnableRun {
  return run;
}

function newest<T>(judged: readonly T[]): T[] {
  return judged.slice(-DEFAULTS.judged);
}
