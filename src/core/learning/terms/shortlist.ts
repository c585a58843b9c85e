import type { Floats } from '../../numeric/matrices.ts';
import { TopK } from '../../numeric/top-k.ts';

/**
 * Places of the best by the logits so far, best first: what costs much is asked of them alone. In an untrained
 * model those are the best of search.
 */
export function shortlist(logits: Floats, most: number): number[] {
  const best = new TopK(most);
  for (let place = 0; place < logits.length; place++) best.offer(place, logits[place]!);
  return best.sorted().map(({ row }) => row);
}
