import { describe, expect, onTestFinished, test } from 'vitest';
import type { Trainer, TrainerOptions } from '../../src/engine/ports.ts';
import { kindsOfWork } from '../support/kinds-of-work.ts';

type Create = (options: TrainerOptions) => Trainer;

const CANCELLED = expect.objectContaining({ code: 'cancelled' });

/** A trainer with tools and runs, always the same ones. */
export async function briefedTrainer(create: Create, runs = 30) {
  const work = kindsOfWork();
  const trainer = create({ embedding: 'tiny', dimension: work.dimension, seed: 7 });
  onTestFinished(() => trainer.close());
  await trainer.offer(work.tools, []);
  await trainer.recall(work.runs(runs));
  return { trainer, work };
}

/** What every trainer promises; run on the twin and on the thread alike. */
export function trainerContract(name: string, create: Create): void {
  describe(`trainer: ${name}`, () => {
    test('[LEARN-1] nothing is learned from fewer than ten runs, and no run teaches anything then', async () => {
      const { trainer, work } = await briefedTrainer(create, 8);
      expect(await trainer.train()).toMatchObject({ runs: 0, losses: [] });
      expect(await trainer.take(work.run())).toBeNull();
    });

    test('[LEARN-2] a training reports its progress, its loss and the weight of each run', async () => {
      const { trainer } = await briefedTrainer(create);
      const stages = new Set<string>();
      const { runs, losses, weights, evidence } = await trainer.train({
        onProgress: ({ stage, done, total }) => {
          expect(done).toBeLessThanOrEqual(total);
          stages.add(stage);
        },
      });
      expect([...stages].toSorted()).toEqual(['features', 'judging', 'training']);
      expect(runs).toBe(30);
      expect(losses.at(-1)).toBeLessThan(losses[0]!);
      expect(weights).toHaveLength(30);
      expect(weights).toEqual(await trainer.weights());
      expect(evidence.learned).toHaveLength(6);
    });

    test('[LEARN-3] a stopped training changes nothing', async () => {
      const stopped = await briefedTrainer(create);
      const other = await briefedTrainer(create);
      for (const { trainer } of [stopped, other]) await trainer.train();
      // So many that another thread is not done before it hears that it is to stop.
      await stopped.trainer.recall(stopped.work.runs(60));
      await other.trainer.recall(other.work.runs(60));

      const stop = new AbortController();
      const training = stopped.trainer.train({ signal: stop.signal, onProgress: () => stop.abort() });
      await expect(training).rejects.toEqual(CANCELLED);
      await expect(stopped.trainer.train({ signal: stop.signal })).rejects.toEqual(CANCELLED);

      const run = other.work.run(1);
      expect(await stopped.trainer.take(run)).toEqual(await other.trainer.take(run));
      expect(await stopped.trainer.train()).toEqual(await other.trainer.train());
    });

    test('[LEARN-6] a run is evaluated, then learned from; loaded parameters continue from where they were', async () => {
      const { trainer, work } = await briefedTrainer(create);
      const { params } = await trainer.train();
      const taken = await trainer.take(work.run());
      expect(taken).toMatchObject({ judged: { learned: expect.any(Number), hybrid: expect.any(Number) } });
      expect(taken?.params).not.toEqual(params);
      await trainer.load(null);
      expect(await trainer.take(work.run())).toBeNull();
      await trainer.load(params);
      expect(await trainer.take(work.run())).not.toBeNull();
    });

    test('[LEARN-5] unreadable parameters are refused, and the model stays as it was', async () => {
      const { trainer, work } = await briefedTrainer(create);
      await trainer.train();
      const refused = trainer.load(Uint8Array.of(1, 2, 3));
      await expect(refused).rejects.toEqual(expect.objectContaining({ code: 'invalid_argument' }));
      expect(await trainer.take(work.run())).not.toBeNull();
    });
  });
}
