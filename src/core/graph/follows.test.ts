import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { randomEvents } from '../../../test/support/random-graph.ts';
import { createRandom } from '../numeric/random.ts';
import { callSpans } from '../tracing/call-spans.ts';
import { directlyFollowed } from './follows.ts';

test('[GRAPH-4] a call directly follows what had ended before it, with nothing wholly between the two', () => {
  const random = createRandom(proofSeed());
  for (let proof = 0; proof < proofRuns(1_000); proof++) {
    const events = randomEvents(random, random.int(25), 5).map((event) => ({
      ...event,
      // Few moments, so that many calls share one.
      ts: Math.floor(event.ts / 50),
    }));
    const spans = callSpans(events);
    const isBefore = (i: number, j: number) => i < j && spans[i]!.endTs <= spans[j]!.startTs;
    const expected = spans.map((_, j) =>
      spans.filter((_, i) => isBefore(i, j) && !spans.some((_, k) => isBefore(i, k) && isBefore(k, j))),
    );
    const found = directlyFollowed(spans);
    expect(found.map((each) => new Set(each))).toEqual(expected.map((each) => new Set(each)));
  }
});
