import { expect, test } from 'vitest';
import { WorkerTrainer } from '../../src/adapters/training/worker-trainer.ts';
import type { TrainerOptions } from '../../src/engine/ports.ts';
import { createMemoryTrainer } from '../memory/trainer.ts';
import { kindsOfWork } from '../support/kinds-of-work.ts';
import { briefedTrainer, trainerContract } from './trainer-contract.ts';

const createWorkerTrainer = (options: TrainerOptions) => new WorkerTrainer(options);

trainerContract('in memory', createMemoryTrainer);
trainerContract('worker thread', createWorkerTrainer);

test('[LEARN-2] the same seed and runs give the same parameters, in this thread and in another', async () => {
  const twin = await briefedTrainer(createMemoryTrainer, 70);
  const thread = await briefedTrainer(createWorkerTrainer, 70);
  expect(await thread.trainer.weights()).toEqual(await twin.trainer.weights());
  expect(await thread.trainer.train()).toEqual(await twin.trainer.train());
  const run = twin.work.run(2);
  expect(await thread.trainer.take(run)).toEqual(await twin.trainer.take(run));
});

test('[LEARN-4] a thread that cannot start, or dies at work, is an error for the waiting caller', async () => {
  const { tools } = kindsOfWork();
  const stillborn = new WorkerTrainer({ embedding: 'tiny', dimension: -1, seed: 1 });
  await expect(stillborn.offer(tools, [])).rejects.toMatchObject({ message: 'The training thread failed' });
  await expect(stillborn.train()).rejects.toMatchObject({ code: 'cancelled' });

  // So many that it is not done before it is closed.
  const { trainer } = await briefedTrainer(createWorkerTrainer, 300);
  const begun = Promise.withResolvers<void>();
  const training = trainer.train({ onProgress: () => begun.resolve() });
  const told = expect(training).rejects.toMatchObject({
    message: 'The training thread ended before it finished',
  });
  await begun.promise;
  await trainer.close();
  await told;
  await expect(trainer.weights()).rejects.toMatchObject({ code: 'cancelled' });
});
