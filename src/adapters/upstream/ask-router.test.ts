import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import type { UpstreamClient } from '../../engine/ports.ts';
import { AskRouter, type Call, QuietDeadline } from './ask-router.ts';

const never = new AbortController().signal;
const clientNamed = (id: string): UpstreamClient => ({ id, capabilities: {}, ask: async () => ({}) });
const callOf = (id: string): Call => ({
  client: clientNamed(id),
  deadline: new QuietDeadline(60_000, never),
});
const owners = async (router: AskRouter) => (await router.owners(never)).map(({ client }) => client?.id);

/** A call that ends when told, outside whose context questions are asked, as they come from a pipe. */
function hold(router: AskRouter, id: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = router.run(callOf(id), () => promise);
  return { end: resolve, done };
}

test('[UP-12] with no call in flight, a question belongs to no client', async () => {
  expect(await owners(new AskRouter())).toEqual([]);
});

test('[UP-12] the stream of a request identifies the client of a question, whatever else is in flight', async () => {
  const router = new AskRouter();
  const other = hold(router, 'ben');
  expect(await router.run(callOf('ann'), () => owners(router))).toEqual(['ann']);
  other.end();
});

test('[UP-12] over a pipe, a question waits until only one client has calls in flight', async () => {
  const router = new AskRouter();
  const [ann, ben] = [hold(router, 'ann'), hold(router, 'ben')];
  const asked = owners(router);
  ben.end();
  expect(await asked).toEqual(['ann']);
  ann.end();
});

test('[UP-12] a question whose client cannot be identified reaches no client', async () => {
  const router = new AskRouter(20);
  const calls = [hold(router, 'ann'), hold(router, 'ben')];
  expect(await owners(router)).toEqual([]);
  for (const { end } of calls) end();
});

test('[UP-12] once a server has asked, calls of different clients take turns, and every call runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('ann', 'ben', 'cas'), { maxLength: 30 }), async (ids) => {
      const router = new AskRouter();
      const first = hold(router, 'first');
      await owners(router);
      first.end();
      const inFlight = new Set<Call>();
      const asked = await Promise.all(
        ids.map((id) => {
          const call = callOf(id);
          return router.run(call, async () => {
            inFlight.add(call);
            await new Promise(setImmediate);
            const clients = new Set([...inFlight].map(({ client }) => client?.id));
            inFlight.delete(call);
            return [...clients];
          });
        }),
      );
      expect(asked).toEqual(ids.map((id) => [id]));
    }),
    { numRuns: proofRuns(300), seed: proofSeed() },
  );
});
