import type { Candidates, IntentForms } from '../../core/learning/ranker/candidates.ts';
import type { TextScores } from '../../core/retrieval/text-scores.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { Background } from '../background.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { LearnedSearch } from '../catalogue/search.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Capability, Embedder, RecalledRun } from '../ports.ts';
import { intentForms, learnableRun, learnableTrace } from './learnable-run.ts';
import { createLearningService, type LearningService } from './learning-service.ts';
import { createLiveRanker, type LiveRanker } from './live-ranker.ts';
import { capabilityEntries, toolEntries } from './ranked-candidates.ts';
import { createSuccessWatch, type SuccessWatch } from './success-watch.ts';

const DEFAULTS = {
  /** Runs recalled at the start, the newest. */
  recalled: 5_000,
  /** Runs beyond these that are looked for because they are like what is asked for. */
  near: 32,
  /** Of these, how many have their success looked into. */
  watched: 500,
};

export interface LearningParts {
  readonly ports: FlowPorts;
  readonly background: Background;
  readonly catalogue: () => Catalogue;
  readonly capabilities: () => readonly Capability[];
  /** For texts that come again. */
  readonly remembering: Pick<Embedder, 'embed'>;
  readonly isEnabled: () => boolean;
}

/** What runs teach the ranker, and what it tells search in turn. */
export interface Learning {
  readonly ranker: LiveRanker;
  readonly search: LearnedSearch;
  readonly service: LearningService;
  /** What traces tell of a node; null while too few runs have used it. */
  statisticsOf(node: NodeId): Promise<ReturnType<SuccessWatch['statisticsOf']>>;
  /** Tools or capabilities have come, changed or gone. */
  offer(): void;
  /** What earlier lives of the gateway learned: at the start, or when it is first asked for. */
  recall(signal?: AbortSignal): Promise<void>;
  /** Before an answer: a gateway that serves recalls by itself, and nobody waits; that of a command does so now. */
  prepare(): Promise<void>;
  /** Of a trace that this gateway stored. */
  learn(trace: ExecutionTrace, signal: AbortSignal): Promise<void>;
  /** Of a trace that another gateway on the same store stored. */
  hear(trace: ExecutionTrace, signal: AbortSignal): Promise<void>;
}

export function openLearning(parts: LearningParts): Learning {
  const { ports, background, catalogue, capabilities, remembering, isEnabled } = parts;
  const { store, embedder } = ports;
  const ranker = createLiveRanker(ports);
  const watch = createSuccessWatch();
  let isOffering = false;
  let isStale = false;
  let recalling: Promise<void> | null = null;
  /** There are runs beyond those that were recalled. */
  let hasMore = false;
  /** Traces that were recalled: stored meanwhile, they come by a second time. */
  const recalledIds = new Set<string>();

  async function offerNow(): Promise<void> {
    await ranker.offer(toolEntries(catalogue()), await capabilityEntries(capabilities(), remembering));
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
    for (const trace of newest.reverse()) watch.add(trace);
    await ranker.recall(recalled.flatMap((run) => learnableRun(run) ?? []));
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
      ports.logger.log('debug', 'Runs of long ago cannot be asked for', { error: String(error) });
    }
  }

  function recall(signal?: AbortSignal): Promise<void> {
    recalling ??= recallAll(signal).catch((error: unknown) => {
      recalling = null;
      throw error;
    });
    return recalling;
  }

  async function prepare(): Promise<void> {
    if (!recalling && isEnabled()) await recall();
  }

  async function take(
    trace: ExecutionTrace,
    signal: AbortSignal,
    keep?: (forms: IntentForms) => Promise<void>,
  ): Promise<void> {
    await recall();
    if (recalledIds.delete(trace.id)) return;
    watch.add(trace);
    if (trace.intentText === null || trace.intentText.trim() === '') return;
    const forms = await intentForms(embedder, trace.intentText);
    await keep?.(forms);
    const run = learnableTrace(forms, trace);
    if (run) await ranker.take(run, signal);
  }

  return {
    ranker,
    service: createLearningService(ports, ranker, watch, () => recall()),
    recall,
    prepare,
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
      background.run('Telling the ranker what there is', async () => {
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
      take(trace, signal, ({ intent, clauses }) =>
        store.traces.setIntentEmbedding(trace.id, embedder.model, intent, clauses),
      ),
    hear: (trace, signal) => take(trace, signal),
  };
}

/** The part of the text scores that is the tools', where the ranker was offered these very tools in this order. */
function toolScores(
  { whole, clause, lexical, fused, named }: TextScores,
  candidates: Candidates,
  tools: readonly ToolId[],
): TextScores | null {
  const { length } = tools;
  if (candidates.tools !== length || tools.some((id, i) => candidates.ids[i] !== id)) return null;
  return {
    whole: whole.subarray(0, length),
    clause: clause.subarray(0, length),
    lexical: lexical.subarray(0, length),
    fused: fused.subarray(0, length),
    named: new Map([...named].filter(([place]) => place < length)),
  };
}
