import { applyTraces } from '../../core/graph/apply-trace.ts';
import { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { ProgramCache } from '../code/program.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { factsOf } from '../graph/trace-facts.ts';
import { DOUBTED } from '../learning/suggestion-log.ts';
import type { Settings } from '../ports.ts';
import { createJobs, segmentGap } from './jobs.ts';

const DEFAULTS = {
  /** Traces rolled up at once. */
  batch: 200,
  /** Before the first look at a store that may just be busy starting, and between two, in milliseconds. */
  firstMs: 60_000,
  everyMs: 3_600_000,
};

const DAY_MS = 86_400_000;

export interface Retention {
  readonly ports: Pick<FlowPorts, 'store' | 'clock' | 'trainerLock' | 'logger' | 'sleep'>;
  readonly programs: ProgramCache;
  readonly settings: () => Settings;
}

/**
 * Removes traces whose time is over; what the graph learned from them goes into the roll-up first, from which a
 * rebuild starts. Suggestions go with them, but for the newest that people took something out of: what these teach is
 * in no roll-up. Answers how many traces went.
 */
export async function retainTraces(
  { ports, programs, settings }: Retention,
  signal?: AbortSignal,
): Promise<number> {
  const { store, clock } = ports;
  const { tracesDays } = settings().retention;
  if (tracesDays === null) return 0;
  const before = new Date(clock.now().getTime() - tracesDays * DAY_MS);
  let { traces: from, ...learned } = await store.rollup.read();
  const graph = new TypedGraph(learned.edges, learned.statistics);
  const jobs = createJobs(store, () => segmentGap(settings()));
  let gone = 0;
  while (!signal?.aborted) {
    const due = await store.rollup.due(before, DEFAULTS.batch);
    if (due.length === 0) break;
    const changes = applyTraces(graph, await factsOf(programs, due, jobs));
    const ids = due.map(({ id }) => id);
    // Another gateway does the same: it may go on.
    if (!(await store.rollup.fold({ ...changes, from, ids }))) break;
    from += ids.length;
    gone += ids.length;
  }
  await store.suggestions.expire(before, DOUBTED);
  await store.rollup.tidy(before);
  return gone;
}

/** Repeats this every hour on the gateway that trains, until it is stopped. */
export async function watchRetention(retention: Retention, signal: AbortSignal): Promise<void> {
  const { trainerLock, logger, sleep } = retention.ports;
  for (let pause = DEFAULTS.firstMs; ; pause = DEFAULTS.everyMs) {
    // Rejects when told to stop.
    await sleep(pause, signal).catch(() => {});
    if (signal.aborted) return;
    if (!trainerLock.isHeld()) continue;
    try {
      const gone = await retainTraces(retention, signal);
      if (gone > 0) logger.log('info', 'Expired traces were removed', { traces: gone });
    } catch (error) {
      logger.log('error', 'Old traces could not be removed', { error: String(error) });
    }
  }
}
