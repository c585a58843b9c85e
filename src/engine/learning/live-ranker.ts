import { type CandidateEntry, Candidates } from '../../core/learning/candidates.ts';
import { createRankModel } from '../../core/learning/create-rank-model.ts';
import { CLOSED_GATE, decideGate, type GateState } from '../../core/learning/gate.ts';
import {
  type LearnableRun,
  type LearningProgress,
  placeRun,
  rememberRuns,
} from '../../core/learning/learn-ranker.ts';
import { decodeParams, loadParams } from '../../core/learning/params-file.ts';
import type { RankModel } from '../../core/learning/rank-model.ts';
import { Ranker } from '../../core/learning/ranker.ts';
import { createRandom } from '../../core/numeric/random.ts';
import { WasmMultiplier } from '../../core/numeric/wasm-multiplier.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { RankerParams } from '../ports.ts';
import { readMetrics, type TrainingMetrics } from './training-metrics.ts';

const DEFAULTS = {
  /** Runs that are looked back on, the newest. */
  runs: 5_000,
  /** Runs below which search serves alone and nothing is trained. */
  least: 10,
  /** Trained anew when there are so many runs more, and this share more. */
  growth: 20,
  share: 0.1,
  /** Earlier parameters that can be gone back to. */
  kept: 20,
  seed: 1,
};

/** The ranker in use: what can be ranked, what was run, what was learned, and whether it may serve. */
export interface LiveRanker {
  /** Ranks whatever the gate says; null before anything was learned. */
  current(): Ranker | null;
  gate(): GateState;
  runs(): readonly LearnableRun[];
  training(): LearningProgress | null;
  /** Newest first. */
  history(): Promise<readonly { readonly createdAt: Date; readonly metrics: TrainingMetrics }[]>;
  /** What can be ranked from now on. */
  offer(tools: readonly CandidateEntry[], capabilities: readonly CandidateEntry[]): Promise<void>;
  /** At the start: runs of earlier, oldest first, and the parameters learned from them. */
  recall(runs: readonly LearnableRun[]): Promise<void>;
  /** A run that just ended. */
  take(run: LearnableRun, signal?: AbortSignal): Promise<void>;
  /** Trains on all runs now. */
  train(signal?: AbortSignal): Promise<void>;
  /** Ends the training under way; nothing has changed then. */
  stop(): void;
  /** Back to the parameters before these. */
  rollBack(): Promise<void>;
}

export function createLiveRanker(
  ports: Pick<FlowPorts, 'store' | 'embedder' | 'trainer' | 'clock' | 'crypto' | 'events'>,
): LiveRanker {
  const { store, embedder, trainer, clock, crypto, events } = ports;
  const multiplier = new WasmMultiplier();
  const random = createRandom(DEFAULTS.seed);
  let entries: readonly [readonly CandidateEntry[], readonly CandidateEntry[]] = [[], []];
  let candidates = new Candidates([], [], embedder.dimension);
  let runs: LearnableRun[] = [];
  let past = rememberRuns(candidates, runs);
  let model: RankModel | null = null;
  let ranker: Ranker | null = null;
  let gate: GateState = CLOSED_GATE;
  let evidence: TrainingMetrics['evidence'] = { learned: [], hybrid: [] };
  /** Runs there were when all of them were last trained on. */
  let trainedOn = 0;
  let isBriefed = false;
  let progress: LearningProgress | null = null;
  let stopping = new AbortController();

  /** The trainer is told of nothing until there is something to learn: it costs a thread. */
  async function brief(): Promise<void> {
    if (isBriefed) return;
    isBriefed = true;
    await trainer.offer(...entries);
    await trainer.recall(runs);
    const [newest] = await store.rankerParams.list(embedder.model, 1);
    if (newest) await trainer.load(newest.bytes);
  }

  function use(bytes: Uint8Array): void {
    const { values } = decodeParams(bytes);
    const fresh = createRankModel(multiplier, embedder.dimension, random);
    loadParams(values, fresh.parameters);
    model = fresh;
    ranker = new Ranker(candidates, past, fresh);
  }

  function forget(): void {
    model = null;
    ranker = null;
    gate = CLOSED_GATE;
    evidence = { learned: [], hybrid: [] };
  }

  function lookBack(): void {
    past = rememberRuns(candidates, runs);
    ranker = model && new Ranker(candidates, past, model);
  }

  function judge(): void {
    const before = gate.open;
    gate = decideGate(gate, evidence, { random, now: clock.now().getTime() });
    if (gate.open === before) return;
    const { open, gain, ci95, n } = gate;
    events.emit({ type: 'gate_changed', open, gain, ci95: [...ci95], n });
  }

  async function save(bytes: Uint8Array, metrics: TrainingMetrics): Promise<void> {
    const params: RankerParams = {
      id: crypto.randomUuid(),
      model: embedder.model,
      bytes,
      metrics: { ...metrics },
      createdAt: clock.now(),
    };
    await store.rankerParams.save(params);
    const all = await store.rankerParams.list(embedder.model, DEFAULTS.kept * 2);
    for (const old of all.slice(DEFAULTS.kept)) await store.rankerParams.remove(old.id);
  }

  async function takeUp(params: RankerParams | undefined): Promise<void> {
    forget();
    if (!params) return;
    const metrics = readMetrics(params.metrics);
    use(params.bytes);
    ({ gate, evidence } = metrics);
    trainedOn = metrics.runs;
  }

  async function train(signal?: AbortSignal): Promise<void> {
    if (progress) {
      throw new PmlError('invalid_argument', 'A training is under way', {
        hint: 'Wait for it, or stop it first.',
      });
    }
    const startedAt = clock.monotonic();
    progress = { stage: 'features', done: 0, total: runs.length };
    stopping = new AbortController();
    try {
      await brief();
      const trained = await trainer.train({
        signal: signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal,
        onProgress: (now) => {
          progress = now;
        },
      });
      trainedOn = runs.length;
      if (trained.runs === 0) return;
      use(trained.params);
      evidence = { learned: [...trained.evidence.learned], hybrid: [...trained.evidence.hybrid] };
      judge();
      const { losses } = trained;
      const seconds = (clock.monotonic() - startedAt) / 1000;
      await save(trained.params, { runs: trained.runs, gate, evidence, losses, seconds });
      events.emit({ type: 'ranker_trained', runs: trained.runs, loss: losses.at(-1) ?? 0, seconds });
    } finally {
      progress = null;
    }
  }

  return {
    current: () => ranker,
    gate: () => gate,
    runs: () => runs,
    training: () => progress,
    async history() {
      const all = await store.rankerParams.list(embedder.model, DEFAULTS.kept);
      return all.map(({ createdAt, metrics }) => ({ createdAt, metrics: readMetrics(metrics) }));
    },

    async offer(tools, capabilities) {
      entries = [tools, capabilities];
      candidates = new Candidates(tools, capabilities, embedder.dimension);
      lookBack();
      if (isBriefed) await trainer.offer(tools, capabilities);
    },

    async recall(earlier) {
      runs = [...earlier, ...runs].slice(-DEFAULTS.runs);
      lookBack();
      const [newest] = await store.rankerParams.list(embedder.model, 1);
      await takeUp(newest);
    },

    async take(run, signal) {
      runs = [...runs, run].slice(-DEFAULTS.runs);
      const placed = placeRun(candidates, run);
      if (placed) past.add(placed, run.succeeded ? 1 : 0);
      if (runs.length < DEFAULTS.least) return;
      if (!isBriefed) await brief();
      else {
        const taken = await trainer.take(run);
        if (taken) {
          use(taken.params);
          if (taken.judged) {
            evidence = {
              learned: [...evidence.learned, taken.judged.learned].slice(-DEFAULTS.kept * 5),
              hybrid: [...evidence.hybrid, taken.judged.hybrid].slice(-DEFAULTS.kept * 5),
            };
            judge();
          }
        }
      }
      const due = runs.length - trainedOn >= Math.max(DEFAULTS.growth, DEFAULTS.share * trainedOn);
      if (due && !progress) await train(signal);
    },

    train,
    stop: () => stopping.abort(),

    async rollBack() {
      const [newest, before] = await store.rankerParams.list(embedder.model, 2);
      if (!newest) {
        throw new PmlError('not_found', 'Nothing has been learned yet that could be gone back on', {
          hint: 'Run "pml train" first.',
        });
      }
      await store.rankerParams.remove(newest.id);
      await takeUp(before);
      if (isBriefed && before) await trainer.load(before.bytes);
    },
  };
}
