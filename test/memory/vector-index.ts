import { dot } from '../../src/core/numeric/matrices.ts';
import { checkVector } from '../../src/core/retrieval/wasm-vector-index.ts';
import type { VectorIndex } from '../../src/engine/ports.ts';

/** A plain implementation: computes every score in double precision and sorts all of them. */
export function createMemoryVectorIndex(dimension: number): VectorIndex {
  const vectors = new Map<string, Float32Array>();
  return {
    dimension,
    get size() {
      return vectors.size;
    },
    set(id, vector) {
      checkVector(vector, dimension, id);
      vectors.set(id, vector.slice());
    },
    get: (id) => vectors.get(id)?.slice(),
    delete: (id) => vectors.delete(id),
    nearest(query, k) {
      checkVector(query, dimension, 'the query');
      return [...vectors]
        .map(([id, vector]) => ({ id, score: dot(query, vector) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, Math.max(0, k));
    },
    scores(query, ids) {
      checkVector(query, dimension, 'the query');
      return Float32Array.from(ids, (id) => {
        const vector = vectors.get(id);
        return vector ? dot(query, vector) : Number.NaN;
      });
    },
  };
}
