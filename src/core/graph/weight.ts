import type { EdgeSource, EdgeType } from '../vocabulary/edge.ts';
import type { GraphEdge } from './graph-edge.ts';

const TYPE_WEIGHTS: Readonly<Record<EdgeType, number>> = {
  dependency: 1,
  contains: 0.8,
  provides: 0.7,
  alternative: 0.6,
  sequence: 0.5,
  conditional: 0.5,
};

const SOURCE_FACTORS: Readonly<Record<EdgeSource, number>> = { observed: 1, inferred: 0.7, template: 0.5 };

const DEFAULTS = {
  /** Runs after which an edge counts as observed. */
  observedRuns: 3,
  /** Unseen for so long, an edge loses nothing. */
  graceDays: 30,
  /** After that, unseen for so long again, its source counts half. */
  halfLifeDays: 90,
};

const DAY_MS = 86_400_000;

/** Template until first seen, inferred at one or two runs, observed from three on. */
export function sourceOf(observedCount: number): EdgeSource {
  if (observedCount >= DEFAULTS.observedRuns) return 'observed';
  return observedCount > 0 ? 'inferred' : 'template';
}

/** What an edge of this type and source is worth while it is fresh, in (0, 1]. */
export function weight(type: EdgeType, source: EdgeSource): number {
  return TYPE_WEIGHTS[type] * SOURCE_FACTORS[source];
}

/**
 * The same with age: what is no longer seen fades, down to the weight of a template and not below it.
 * Age is counted to the newest run of the graph, not to the present: an idle month makes nothing fade,
 * and the same traces always give the same weights.
 */
export function fadedWeight({ type, source, lastSeenAt }: GraphEdge, newestRunAt: number | null): number {
  if (lastSeenAt === null || newestRunAt === null) return weight(type, source);
  const days = (newestRunAt - lastSeenAt) / DAY_MS - DEFAULTS.graceDays;
  const freshness = days > 0 ? 2 ** (-days / DEFAULTS.halfLifeDays) : 1;
  return TYPE_WEIGHTS[type] * Math.max(SOURCE_FACTORS.template, SOURCE_FACTORS[source] * freshness);
}
