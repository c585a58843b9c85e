import { dot } from '../numeric/matrices.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, sourceOf } from './graph-edge.ts';

const DEFAULTS = {
  /** Least cosine of two intents that count as the same. */
  sameIntent: 0.85,
  /** Share of each capability's intents that the other must serve as well. */
  share: 0.5,
};

/** A capability and the intents of runs in which it succeeded. */
export interface ServedIntents {
  readonly capability: NodeId;
  /** Unit vectors of one model. */
  readonly intents: readonly Float32Array[];
  /** Time of the newest of those runs, in milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/**
 * Pairs of capabilities that serve the same intents: either could run in place of the other. One edge per
 * pair, from the lesser id to the greater; its count is the smaller number of common runs, and its time the
 * older of both last runs.
 */
export function alternativeEdges(
  capabilities: readonly ServedIntents[],
  sameIntent: number = DEFAULTS.sameIntent,
): GraphEdge[] {
  const sorted = capabilities.toSorted((a, b) => (a.capability < b.capability ? -1 : 1));
  return sorted.flatMap((a, i) =>
    sorted.slice(i + 1).flatMap((b) => {
      const [aAlsoByB, bAlsoByA] = [alsoServed(a, b, sameIntent), alsoServed(b, a, sameIntent)];
      const isAlternative =
        Math.min(aAlsoByB, bAlsoByA) > 0 &&
        aAlsoByB >= DEFAULTS.share * a.intents.length &&
        bAlsoByA >= DEFAULTS.share * b.intents.length;
      if (!isAlternative) return [];
      const observedCount = Math.min(aAlsoByB, bAlsoByA);
      return {
        from: a.capability,
        to: b.capability,
        type: 'alternative' as const,
        source: sourceOf(observedCount),
        observedCount,
        invocationCount: observedCount,
        lastSeenAt: Math.min(a.lastSeenAt, b.lastSeenAt),
        valuePaths: [],
      };
    }),
  );
}

/** How many intents of `one` `other` has served as well. */
function alsoServed(one: ServedIntents, other: ServedIntents, sameIntent: number): number {
  return one.intents.filter((a) => other.intents.some((b) => dot(a, b) >= sameIntent)).length;
}
