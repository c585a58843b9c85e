import { dot } from '../numeric/vectors.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type GraphEdge, sourceOf } from './graph-edge.ts';

const DEFAULTS = {
  /** Cosine at which two intents count as the same. */
  sameIntent: 0.85,
  /** Share of either one's intents that the other must serve as well. */
  share: 0.5,
};

/** A capability and the intents of runs in which it succeeded. */
export interface ServedIntents {
  readonly capability: NodeId;
  /** Vectors of length 1, of one model. */
  readonly intents: readonly Float32Array[];
  /** Of the newest of those runs, in milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/**
 * Pairs of capabilities that serve the same intents: either could run where the other did. One edge per
 * pair, from the lesser id to the greater; its count is the runs both ways have in common, and its moment
 * that of the one not seen for longer.
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

/** How many of one's intents the other has met as well. */
function alsoServed(one: ServedIntents, other: ServedIntents, sameIntent: number): number {
  return one.intents.filter((a) => other.intents.some((b) => dot(a, b) >= sameIntent)).length;
}
