import { type Candidates, type IntentForms, intentForms } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import { CallMemory } from '../../core/planning/suggest/call-memory.ts';
import type { TextScores } from '../../core/retrieval/text-scores.ts';
import { continuesJob, isStep, jobEvents, sharesValue } from '../../core/tracing/jobs.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { Background } from '../background.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { LearnedSearch } from '../catalogue/search.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Capability, Embedder, RecalledRun } from '../ports.ts';
import { createJobs } from '../traces/jobs.ts';
import { watchJobs } from '../traces/watch-jobs.ts';
import { joinedRun, learnableJob, learnableRun, learnableTrace } from './learnable-run.ts';
import { createLearningService, type LearningService } from './learning-service.ts';
import { createLiveRanker, type LiveRanker } from './live-ranker.ts';
import { capabilityEntries, toolEntries } from './plan-memory.ts';
import { rememberedRun } from './remembered-run.ts';
import { createSuccessWatch, type RunRisk, type SuccessWatch } from './success-watch.ts';

const DEFAULTS = {
  /** Runs recalled at the start, the newest. */
  recalled: 5_000,
  /** Runs beyond these that are looked for because they are like what is asked for. */
  near: 32,
  /** Of these, how many have their success looked into, and how many before others get their turn. */
  watched: 500,
  watchedAtOnce: 5,
};

export interface LearningParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly catalogue: () => Catalogue;
  readonly capabilities: () => readonly Capability[];
  /** For texts that come again. */
  readonly remembering: Pick<Embedder, 'embed'>;
  readonly isEnabled: () => boolean;
  /** Milliseconds between two single calls of one job at the most. */
  readonly gapMs: () => number;
  /** Ends the waiting for further calls of jobs. */
  readonly closing: AbortSignal;
}

/** What runs teach the ranker, and what it tells search in turn. */
export interface Learning {
  readonly ranker: LiveRanker;
  /** What calls were given, for what. */
  readonly calls: CallMemory;
  readonly search: LearnedSearch;
  readonly service: LearningService;
  /** What traces tell of a node; null while too few runs have used it. */
  statisticsOf(node: NodeId): Promise<ReturnType<SuccessWatch['statisticsOf']>>;
  /** What past runs say of one under way; null where they say nothing, or nothing to worry about. */
  riskOf(events: readonly TraceEvent[]): RunRisk | null;
  /** The same of the job that a session is at, for its own user. */
  riskOfJob(sessionId: string | null, owner: string | null): Promise<RunRisk | null>;
  /** Tools or capabilities have come, changed or gone. */
  offer(): void;
  /** What earlier lives of the gateway learned: at the start, or when it is first asked for. */
  recall(signal?: AbortSignal): Promise<void>;
  /** Before an answer: a gateway that serves recalls by itself, and nobody waits; that of a command does so now. */
  prepare(): Promise<void>;
  /** A trace that was just stored is one of the past runs for the next question; nothing is trained for that. */
  know(trace: ExecutionTrace): void;
  /** Told of each run before it is one of the past ones, and of jobs of single calls once they are over. */
  onRun(listener: (run: LearnableRun) => Promise<void>): void;
  /** Told of the jobs of single calls that were made here, once they are over. */
  onJob(listener: (job: readonly ExecutionTrace[]) => Promise<void>): void;
  /** Of a trace that this gateway stored. */
  learn(trace: ExecutionTrace, signal: AbortSignal): Promise<void>;
  /** Of a trace that another gateway on the same store stored. */
  hear(trace: ExecutionTrace, signal: AbortSignal): Promise<void>;
}

interface KnownRun {
  readonly forms: IntentForms;
  /** Null where it shows nothing of what people want. */
  readonly run: LearnableRun | null;
}

export function openLearning(parts: LearningParts): Learning {
  const { ports, background, catalogue, capabilities, remembering, isEnabled, gapMs, closing } = parts;
  const { store, embedder } = ports;
  const ranker = createLiveRanker(ports);
  const watch = createSuccessWatch();
  const calls = new CallMemory();
  const remember = (trace: ExecutionTrace) => {
    watch.add(trace);
    const run = rememberedRun(trace);
    if (run) calls.add(run);
  };
  let isOffering = false;
  let isStale = false;
  let recalling: Promise<void> | null = null;
  /** There are runs beyond those that were recalled. */
  let hasMore = false;
  /** Traces that were recalled: stored meanwhile, they come by a second time. */
  const recalledIds = new Set<string>();

  async function offerNow(): Promise<void> {
    const learned = await capabilityEntries(capabilities(), remembering);
    const now = catalogue();
    await ranker.offer(toolEntries(now), learned, now);
  }

  /** Vectors of runs that were imported, or embedded by another model. */
  async function embedded(run: RecalledRun): Promise<RecalledRun> {
    if (run.intent && run.clauses) return run;
    const { intent, clauses } = await intentForms(embedder, run.intentText);
    await store.traces.setIntentEmbedding(run.id, embedder.model, intent, clauses);
    return { ...run, intent, clauses };
  }

  async function recallAll(signal?: AbortSignal): Promise<void> {
    await offerNow();
    const recalled: RecalledRun[] = [];
    for (const run of await store.traces.recall(embedder.model, DEFAULTS.recalled)) {
      signal?.throwIfAborted();
      recalledIds.add(run.id);
      recalled.push(await embedded(run));
    }
    hasMore = recalled.length === DEFAULTS.recalled;
    const newest = await store.traces.list({ limit: DEFAULTS.watched });
    await watchAgain(newest.reverse(), signal);
    await ranker.recall(recalledJobs(recalled, gapMs()));
  }

  /** Traces of earlier, oldest first, the single calls of sessions as jobs. */
  async function watchAgain(traces: readonly ExecutionTrace[], signal?: AbortSignal): Promise<void> {
    const open = new Map<string | null, readonly ExecutionTrace[]>();
    for (const [i, trace] of traces.entries()) {
      // Requests that came meanwhile go first.
      if (i % DEFAULTS.watchedAtOnce === 0) await ports.sleep(0, signal);
      remember(trace);
      const before = open.get(trace.sessionId) ?? [];
      const goesOn = continuesJob(before, trace, gapMs(), () => sharesValue(before, trace));
      if (!goesOn) watchJob(before);
      open.set(trace.sessionId, goesOn ? [...before, trace] : isStep(trace) ? [trace] : []);
    }
    // One that may go on is watched when it is over.
    const now = ports.clock.now().getTime();
    for (const job of open.values())
      if (job.length > 0 && now - job.at(-1)!.executedAt.getTime() > gapMs()) watchJob(job);
  }

  /** A job that is over succeeded if its last call did. */
  function watchJob(job: readonly ExecutionTrace[]): void {
    const last = job.at(-1);
    if (last) watch.addJob({ ...last, executedAt: job[0]!.executedAt, events: jobEvents(job) });
  }

  /** Where there are more runs than are recalled, those like this one are; search works without them, too. */
  async function remind(intent: Float32Array): Promise<void> {
    if (!hasMore && ranker.runs().length < DEFAULTS.recalled) return;
    try {
      const older = await store.traces.near(embedder.model, intent, DEFAULTS.near, DEFAULTS.recalled);
      ranker.remind(
        new Map(
          older.flatMap((run) => {
            const learnable = learnableRun(run);
            return learnable ? [[run.id, learnable]] : [];
          }),
        ),
      );
    } catch (error) {
      ports.logger.log('debug', 'Old runs cannot be read', { error: String(error) });
    }
  }

  function recall(signal?: AbortSignal): Promise<void> {
    recalling ??= recallAll(signal).catch((error: unknown) => {
      recalling = null;
      throw error;
    });
    return recalling;
  }

  /** By trace, until it is learned from; null for what teaches nothing. */
  const known = new Map<string, Promise<KnownRun | null>>();
  /** One after the other, in the order they were stored. */
  let knowing: Promise<unknown> = Promise.resolve();
  const listeners: ((run: LearnableRun) => Promise<void>)[] = [];

  async function prepare(): Promise<void> {
    if (!recalling && isEnabled()) await recall();
    // Only of those that were stored before somebody asked: more may come without end.
    await knowing;
  }

  const jobListeners: ((job: readonly ExecutionTrace[]) => Promise<void>)[] = [];
  const jobs = createJobs(store, gapMs);
  /** By the id of its first run: what the jobs that go on have come to. */
  const openJobs = new Map<string, LearnableRun>();
  const ended = watchJobs({ ports, background, gapMs, signal: closing, onOver: learnJob });
  const notTold = (error: unknown) =>
    ports.logger.log('warn', 'A run could not be examined before it was learned', { error: String(error) });

  async function tellOf(run: LearnableRun): Promise<void> {
    for (const tell of listeners) await tell(run).catch(notTold);
  }

  async function knowNow(trace: ExecutionTrace, isOwn: boolean): Promise<KnownRun | null> {
    await recall();
    if (recalledIds.delete(trace.id)) return null;
    remember(trace);
    const before = await jobs.before(trace);
    if (isOwn) ended.see(trace, before);
    const steps = [...before, trace];
    const text = steps.find(({ intentText }) => (intentText?.trim() ?? '') !== '')?.intentText;
    if (typeof text !== 'string') return null;
    const forms = await intentForms(embedder, text);
    if (!isStep(trace)) {
      const run = learnableTrace(forms, trace);
      if (run) await tellOf(run);
      if (run) ranker.know(run);
      return { forms, run };
    }
    // It is learned from when it is over, and known as far as it has come.
    const run = learnableJob(forms, steps);
    if (run) ranker.know(run);
    if (!isOwn) return { forms, run };
    if (run) openJobs.set(steps[0]!.runId, run);
    return { forms, run: null };
  }

  function know(trace: ExecutionTrace, isOwn: boolean): Promise<KnownRun | null> {
    const before = known.get(trace.id);
    if (before) return before;
    // An answer that is on its way is not held up; the next question waits for `knowing`.
    const mine = knowing.then(() => ports.sleep(0)).then(() => knowNow(trace, isOwn));
    known.set(trace.id, mine);
    knowing = mine.catch(() => known.delete(trace.id));
    return mine;
  }

  async function learnJob(job: readonly ExecutionTrace[], signal: AbortSignal): Promise<void> {
    const { runId } = job[0]!;
    const run = openJobs.get(runId);
    openJobs.delete(runId);
    watchJob(job);
    for (const tell of jobListeners) await tell(job).catch(notTold);
    if (!run) return;
    await tellOf(run);
    await ranker.learn(run, signal);
  }

  async function take(
    trace: ExecutionTrace,
    signal: AbortSignal,
    isOwn: boolean,
    keep?: (forms: IntentForms) => Promise<void>,
  ): Promise<void> {
    const taken = await know(trace, isOwn);
    if (taken && trace.intentText !== null) await keep?.(taken.forms);
    // Not before: tried again, it is not known a second time.
    known.delete(trace.id);
    if (taken?.run) await ranker.learn(taken.run, signal);
  }

  return {
    ranker,
    calls,
    service: createLearningService(ports, ranker, watch, () => recall()),
    recall,
    prepare,
    know: (trace) => void background.run('Recording a run', () => know(trace, true)),
    onRun: (listener) => void listeners.push(listener),
    onJob: (listener) => void jobListeners.push(listener),
    riskOf: (events) => watch.risk(events, ports.clock.now().getTime()),
    async riskOfJob(sessionId, owner) {
      await prepare();
      const now = ports.clock.now();
      const job = sessionId === null ? [] : jobs.current(sessionId, now);
      return job.at(-1)?.owner === owner ? watch.risk(jobEvents(job), now.getTime()) : null;
    },
    async statisticsOf(node) {
      await prepare();
      return watch.statisticsOf(node, ports.clock.now().getTime());
    },

    search: {
      async rank(query) {
        await prepare();
        if (!ranker.gate().open || !isEnabled()) return null;
        const forms = await intentForms(embedder, query);
        await remind(forms.intent);
        const current = ranker.current();
        if (!current) return null;
        const ranking = current.rank(forms);
        return {
          familiarity: ranking.familiarity,
          textOf: (tools) => toolScores(ranking.text, current.candidates, tools),
          scoreOf: (tool) => {
            const place = current.candidates.placeOf(tool);
            return place === undefined ? Number.NEGATIVE_INFINITY : ranking.logits[place]!;
          },
          reasonsFor: (tool) => {
            const place = current.candidates.placeOf(tool);
            return place === undefined ? null : current.explain(forms, ranking, place);
          },
        };
      },
    },

    offer() {
      isStale = true;
      if (isOffering) return;
      isOffering = true;
      background.run('Updating the tools known to the ranker', async () => {
        try {
          while (isStale) {
            isStale = false;
            await offerNow();
          }
        } finally {
          isOffering = false;
        }
      });
    },

    learn: (trace, signal) =>
      take(trace, signal, true, ({ intent, clauses }) =>
        store.traces.setIntentEmbedding(trace.id, embedder.model, intent, clauses),
      ),
    hear: (trace, signal) => take(trace, signal, false),
  };
}

/** Runs of earlier, oldest first, the single calls of sessions as jobs. */
function recalledJobs(recalled: readonly RecalledRun[], gapMs: number): LearnableRun[] {
  const open = new Map<string, readonly RecalledRun[]>();
  const runs = new Map<string, LearnableRun>();
  for (const run of recalled) {
    const learnable = learnableRun(run);
    const session = run.sessionId ?? '';
    if (!isStep(run)) {
      open.delete(session);
      if (learnable) runs.set(run.id, learnable);
      continue;
    }
    const before = open.get(session) ?? [];
    // Values are not recalled, and all of these have intents.
    const job = continuesJob(before, run, gapMs, () => false) ? [...before, run] : [run];
    open.set(session, job);
    const [first] = job;
    const joined = joinedRun(
      job.flatMap((step) => learnableRun(step) ?? []),
      first!.runId,
    );
    // In the place of its end.
    runs.delete(first!.id);
    if (joined) runs.set(first!.id, joined);
  }
  return [...runs.values()];
}

/** The part of the text scores that is the tools', where the ranker was offered these very tools in this order. */
function toolScores(
  { whole, clause, lexical, server, nearest, fused, named }: TextScores,
  candidates: Candidates,
  tools: readonly ToolId[],
): TextScores | null {
  const { length } = tools;
  if (candidates.tools !== length || tools.some((id, i) => candidates.ids[i] !== id)) return null;
  return {
    whole: whole.subarray(0, length),
    clause: clause.subarray(0, length),
    lexical: lexical.subarray(0, length),
    server: server.subarray(0, length),
    nearest: nearest.subarray(0, length),
    fused: fused.subarray(0, length),
    named: new Map([...named].filter(([place]) => place < length)),
  };
}
