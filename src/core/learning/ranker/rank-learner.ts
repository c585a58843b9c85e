import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { GateEvidence } from '../gate/gate.ts';
import { Adam } from '../optim/adam.ts';
import { annealedBeta, ReplayBuffer } from '../optim/replay-buffer.ts';
import { type CandidateEntry, Candidates } from './candidates.ts';
import { Familiarity, UNFAMILIAR } from './familiarity.ts';
import {
  judgeLearning,
  judgeQuery,
  type LearnableRun,
  type LearningProgress,
  learnRanker,
  placeRun,
  probeLearning,
  rememberRuns,
} from './learn-ranker.ts';
import type { LeftOut } from './leave-out.ts';
import type { ModelChoice } from './model-choice.ts';
import { blockOf, decodeParams, encodeParams, type ParamsBlock } from './params-file.ts';
import type { PastRuns } from './past-runs.ts';
import { chosenModel, type RankModel, readRankModel } from './rank-model.ts';
import { Ranker } from './ranker.ts';
import { exampleOf, learnFrom } from './train-ranker.ts';

const DEFAULTS = {
  /** Number of newest runs that are kept. */
  runs: 5_000,
  /** For the step after a single run: number of replayed runs, and a low rate. */
  batch: 32,
  rate: 1e-3,
  decay: 0.01,
  /** Influence of losses on replay; none, because it was measured to do harm with few runs. */
  alpha: 0,
};

export interface RankLearnerOptions {
  readonly embedding: string;
  readonly dimension: number;
  readonly seed: number;
  readonly multiplier: Multiplier<Floats>;
  readonly alpha?: number;
  /** Differences from the default model. */
  readonly model?: ModelChoice;
}

/** The result of a training. */
export interface Trained {
  readonly params: Uint8Array;
  readonly runs: number;
  readonly losses: readonly number[];
  readonly evidence: GateEvidence;
  /** Belief in each kept run, in order; 1 if none of its tools is known. */
  readonly weights: readonly number[];
  /** What was learned from a part of the runs, and what was left out; null where there are too few. */
  readonly probe: { readonly params: Uint8Array; readonly leftOut: LeftOut } | null;
}

/** The result of learning from a single run. */
export interface Taken {
  /** nDCG@10 before learning from the run; null if its tools are unknown. */
  readonly judged: { readonly learned: number; readonly hybrid: number } | null;
  readonly loss: number;
  readonly params: Uint8Array;
}

/** Trains the ranker, separately from serving it, so that it can run in its own thread. */
export class RankLearner {
  readonly #options: RankLearnerOptions;
  readonly #random: Random;
  #runs: LearnableRun[] = [];
  #candidates: Candidates;
  /** Built when needed, so that runs reported in many batches are indexed once. */
  #past: PastRuns | null = null;
  /** Null until enough was learned, or parameters were loaded. */
  #model: RankModel | null = null;
  #adam: Adam | null = null;
  #learned = 0;
  #familiarity: Familiarity = UNFAMILIAR;
  /** A training that was started and not finished. */
  #underWay: Generator<LearningProgress, Trained> | null = null;
  #replay: ReplayBuffer<number>;

  constructor(options: RankLearnerOptions) {
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#candidates = new Candidates([], [], options.dimension);
    this.#replay = this.#emptyReplay();
  }

  /** Sets the candidates. */
  offer(tools: readonly CandidateEntry[], capabilities: readonly CandidateEntry[]): void {
    this.#candidates = new Candidates(tools, capabilities, this.#options.dimension);
    this.#past = null;
    this.#underWay = null;
  }

  /**
   * Adds runs from the store, oldest first. One that a person judged, or no longer
   * judges, takes the place of what was known of it.
   */
  recall(runs: readonly LearnableRun[]): void {
    const told = new Map(runs.map((run) => [run.runId, run]));
    const kept = this.#runs.map((known) => {
      const now = known.runId === undefined ? undefined : told.get(known.runId);
      return now && (now.verdict || known.verdict) ? now : known;
    });
    const before = new Set(kept);
    this.#runs = [...kept, ...runs.filter((run) => !before.has(run))].slice(-DEFAULTS.runs);
    this.#past = null;
    this.#underWay = null;
  }

  /** Belief in each kept run, in order; 1 if none of its tools is known. */
  weights(): number[] {
    const isKnown = this.#runs.map(({ uses }) => this.#candidates.placesOf(uses).length > 0);
    const weights = this.#lookBack().weights.slice(-isKnown.filter(Boolean).length).values();
    return isKnown.map((known) => (known ? weights.next().value! : 1));
  }

  /** Loads stored parameters; null resets to the untrained state. */
  load(params: Uint8Array | null): void {
    if (!params) {
      this.#model = null;
      return;
    }
    const { head, values } = decodeParams(params);
    const { multiplier, dimension } = this.#options;
    const model = readRankModel(multiplier, dimension, this.#random, values);
    this.#use(model, head.runs, familiarityIn(values));
  }

  /**
   * Trains from the start on all runs. Stopping half-way changes nothing; calling it again before new data arrives
   * continues where it stopped.
   */
  *train(): Generator<LearningProgress, Trained> {
    this.#underWay ??= this.#trainAll();
    for (;;) {
      const { done, value } = this.#underWay.next();
      if (done) {
        this.#underWay = null;
        return value;
      }
      yield value;
    }
  }

  *#trainAll(): Generator<LearningProgress, Trained> {
    const { multiplier, seed, model = {} } = this.#options;
    const lesson = {
      candidates: this.#candidates,
      runs: this.#runs,
      multiplier,
      seed,
      model: chosenModel(model),
    };
    const evidence = yield* judgeLearning(lesson);
    const probed = yield* probeLearning(lesson);
    const probe = probed && {
      params: this.#encoded(probed.ranker.model, probed.ranker.familiarity),
      leftOut: probed.leftOut,
    };
    const { ranker, runs, losses } = yield* learnRanker(lesson);
    const taught = losses.length > 0 ? runs : 0;
    this.#remember(ranker.past);
    this.#use(ranker.model, taught, ranker.familiarity);
    const params = this.#encoded(ranker.model);
    return { params, runs: taught, losses, evidence, weights: this.weights(), probe };
  }

  /** Takes a run that just ended: judges it by what was learned before, then learns from it. */
  take(run: LearnableRun): Taken | null {
    this.#underWay = null;
    const past = this.#lookBack();
    this.#runs = [...this.#runs, run].slice(-DEFAULTS.runs);
    const placed = placeRun(this.#candidates, run);
    if (!placed) return null;
    const judged = run.succeeded && this.#model ? this.#judge(run, placed.uses, past) : null;
    past.add(placed, run.succeeded ? 1 : 0);
    this.#replay.add(past.runs.length - 1);
    if (!this.#model) return null;
    const loss = this.#step(this.#model, past);
    this.#learned++;
    return { judged, loss, params: this.#encoded(this.#model) };
  }

  #judge(run: LearnableRun, right: readonly number[], past: PastRuns): NonNullable<Taken['judged']> {
    return judgeQuery(new Ranker(this.#candidates, past, this.#model!, this.#familiarity), run, right);
  }

  /** One step on past runs drawn from the replay buffer, with their current features. */
  #step(model: RankModel, past: PastRuns): number {
    const { runs, lessons } = past;
    const batch = this.#replay.sample(
      Math.min(DEFAULTS.batch, this.#replay.size),
      annealedBeta(this.#learned, DEFAULTS.runs),
    );
    const examples = batch.items.map((run, i) =>
      exampleOf(runs[run]!, lessons[run]! * batch.weights[i]!, this.#candidates, past, {
        wantsPast: model.wantsPast,
      }),
    );
    const { loss, losses } = learnFrom(model, this.#candidates, examples, this.#random);
    this.#replay.updatePriorities(batch, losses);
    this.#adam!.step(DEFAULTS.rate);
    return loss;
  }

  #use(model: RankModel, learned: number, familiarity: Familiarity): void {
    this.#familiarity = familiarity;
    this.#model = learned > 0 ? model : null;
    this.#adam = new Adam(model.parameters, DEFAULTS.decay);
    this.#learned = learned;
  }

  #lookBack(): PastRuns {
    return this.#past ?? this.#remember(rememberRuns(this.#candidates, this.#runs));
  }

  #remember(past: PastRuns): PastRuns {
    this.#past = past;
    this.#replay = this.#emptyReplay();
    for (const run of past.runs.keys()) this.#replay.add(run);
    return past;
  }

  #emptyReplay(): ReplayBuffer<number> {
    return new ReplayBuffer({ random: this.#random, alpha: this.#options.alpha ?? DEFAULTS.alpha });
  }

  #encoded({ parameters }: RankModel, familiarity = this.#familiarity): Uint8Array {
    const { embedding, dimension } = this.#options;
    return encodeParams({ embedding, dimension, runs: this.#learned }, rankerBlocks(parameters, familiarity));
  }
}

const FAMILIARITY = 'familiarity';

/** Everything that is stored of a ranker. */
export function rankerBlocks(parameters: readonly ParamsBlock[], familiarity: Familiarity): ParamsBlock[] {
  return [...parameters, { name: FAMILIARITY, values: familiarity.values }];
}

/** Familiarity from a parameter file; throws if it is missing. */
export function familiarityIn(values: ReadonlyMap<string, Float32Array>): Familiarity {
  return Familiarity.from(blockOf(values, FAMILIARITY, UNFAMILIAR.values.length));
}
