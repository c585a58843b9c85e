import { PmlError } from '../../src/core/vocabulary/pml-error.ts';
import type { StoredSuggestion, SuggestionStore } from '../../src/engine/ports.ts';

/** The SQL store in memory; `kept` is shared with the code that deletes runs. */
export function createMemorySuggestions(kept: Map<string, StoredSuggestion>): SuggestionStore {
  const newestFirst = () => structuredClone([...kept.values()].reverse());
  const isDoubted = ({ outcome }: StoredSuggestion) => outcome !== null && outcome.left.length > 0;
  /** Outcomes of expired suggestions. */
  const gone: StoredSuggestion['outcome'][] = [];
  const outcomes = () => [...gone, ...kept.values().map(({ outcome }) => outcome)];
  const count = (verdict: string) => outcomes().filter((outcome) => outcome?.verdict === verdict).length;
  return {
    async put(suggestion) {
      if (kept.has(suggestion.id))
        throw new PmlError('store_conflict', `Suggestion ${suggestion.id} is already stored`);
      kept.set(suggestion.id, structuredClone(suggestion));
    },
    get: async (id) => structuredClone(kept.get(id)) ?? null,
    async settle(id, outcome) {
      const found = kept.get(id);
      if (!found || found.outcome) return false;
      kept.set(id, { ...found, outcome: structuredClone(outcome) });
      return true;
    },
    open: async (sessionId, limit) =>
      newestFirst()
        .filter((one) => one.sessionId === sessionId && one.outcome === null)
        .slice(0, limit),
    doubted: async (limit) => newestFirst().filter(isDoubted).slice(0, limit),
    counts: async () => ({
      made: outcomes().length,
      accepted: count('accepted'),
      edited: count('edited'),
      rejected: count('rejected'),
    }),
    async expire(before, doubted) {
      const spared = new Set(
        newestFirst()
          .filter(isDoubted)
          .slice(0, doubted)
          .map(({ id }) => id),
      );
      const over = [...kept.values()].filter(({ id, createdAt }) => createdAt < before && !spared.has(id));
      for (const { id, outcome } of over) {
        kept.delete(id);
        gone.push(outcome);
      }
      return over.length;
    },
  };
}
