import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What starts processes and servers takes longest, however short its file: begun last, it would end alone. */
class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ project }: TestSpecification) => ['flows', 'unit'].indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => turn(a) - turn(b));
  }
}

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Tests make and delete a hundred thousand files, for which a disk takes longer with each. */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** `vitest run --mode full` is `npm run prove`: the same tests, with the long proofs in full. */
export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: 'test/support/build-bundle.ts',
    env: {
      // What tests start as a process is what is shipped.
      PML_FROM: 'dist',
      ...(mode === 'full' && { PML_PROOFS: 'full' }),
      TMPDIR: temporaryFolder(),
      // Tests start hundreds of processes; what one of them compiled, the next one takes from there.
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for takes as long as a busy machine takes; no test asserts wall time by it.
    expect: { poll: { timeout: 60_000 } },
    // One more than most machines of CI have cores: processes that are waited for leave gaps.
    maxWorkers: 3,
    sequence: { sequencer: ProcessesFirst },
    projects: [
      // Unit tests leave nothing behind, so they share processes: loading modules for each file took a third of them.
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'flows', include: ['test/flows/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'processes', include: ['test/**/*.test.ts'], exclude: ['test/flows/**'] },
      },
    ],
  },
}));
