import type { RankExample } from '../ranker/rank-term.ts';

/** What a token of the set is, by its number. */
const KINDS = ['intent', 'past_intent', 'latest', 'earlier'] as const;

export const TOKEN_KINDS = KINDS.length;

/** How much of an example is looked at. */
export interface SetLimits {
  /** Past intents of each candidate, nearest first. */
  readonly nearest: number;
  /** Candidates used before, the latest ones. */
  readonly context: number;
}

/**
 * What candidates of a batch choose among, as rows of one matrix: intents of the queries, past intents, then
 * candidates that were used before.
 */
export interface AttentionSet {
  /** The intent of each example, then each past intent once. */
  readonly intents: readonly Float32Array[];
  readonly context: readonly number[];
  /** [intents + context], in 0 … TOKEN_KINDS - 1 */
  readonly kinds: readonly number[];
  /** For each example, for each of its places: the rows it sees. */
  readonly lists: readonly (readonly number[])[];
}

export function attentionSet(
  examples: readonly RankExample[],
  places: readonly (readonly number[])[],
  { nearest, context: most }: SetLimits,
): AttentionSet {
  const rowOf = new Map<Float32Array, number>();
  const past = examples.map(({ pastIntents }, i) =>
    places[i]!.map((place) =>
      (pastIntents?.get(place) ?? []).slice(0, nearest).map((intent) => {
        const row = rowOf.get(intent) ?? examples.length + rowOf.size;
        rowOf.set(intent, row);
        return row;
      }),
    ),
  );
  const intents = [...examples.map(({ intent }) => intent), ...rowOf.keys()];
  const contexts = examples.map(({ context = [] }) => context.slice(-most));
  let next = intents.length;
  const lists = contexts.flatMap((context, i) => {
    const shared = [i, ...context.map(() => next++)];
    return past[i]!.map((rows) => [...shared, ...rows]);
  });
  const kind = (name: (typeof KINDS)[number]) => KINDS.indexOf(name);
  return {
    intents,
    context: contexts.flat(),
    kinds: [
      ...intents.map((_, row) => kind(row < examples.length ? 'intent' : 'past_intent')),
      ...contexts.flatMap((context) =>
        context.map((_, i) => kind(i === context.length - 1 ? 'latest' : 'earlier')),
      ),
    ],
    lists,
  };
}
