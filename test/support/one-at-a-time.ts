import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';

/** For what two test files must not do to the machine at once. */
export async function oneAtATime<T>(name: string, work: () => Promise<T>): Promise<T> {
  const release = await lock(tmpdir(), {
    lockfilePath: join(tmpdir(), `pml-${name}.lock`),
    stale: 60_000,
    retries: { retries: 1_200, minTimeout: 100, maxTimeout: 100 },
  });
  try {
    return await work();
  } finally {
    await release();
  }
}
