import { Worker } from 'node:worker_threads';
import type { SandboxSettings } from '../../../engine/ports.ts';

const DEFAULTS = {
  /** The engine needs room beside what it gives a program, and takes up to twice a limit before it notices. */
  memoryFactor: 2,
  memorySlackMb: 64,
  /** Compiling in the background, and all the child does beside the program, count for the process. */
  cpuFactor: 1.1,
  cpuSlackMs: 100,
};

/** Shared with the watching thread: a flag it waits for, and the most this process may use. */
export interface WatchState {
  /** 1 while a run is on. */
  readonly isActive: Int32Array;
  /** Resident bytes; microseconds of CPU since the process began; how many of these came before the run. */
  readonly most: Float64Array;
}

export interface Watch {
  start(limits: SandboxSettings): void;
  stop(): void;
}

/** Guards what the thread that runs programs cannot while one of them keeps it busy. */
export function startWatch(): Watch {
  const isActive = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const most = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  const workerData: WatchState = { isActive, most };
  const thread = new Worker(new URL('./watch-worker.ts', import.meta.url), {
    workerData,
    execArgv: [],
    env: {},
  });
  thread.unref();
  const restingBytes = process.memoryUsage.rss();
  return {
    start({ memoryMb, cpuMs }) {
      const { user, system } = process.cpuUsage();
      most[0] = restingBytes + (memoryMb * DEFAULTS.memoryFactor + DEFAULTS.memorySlackMb) * 2 ** 20;
      most[1] = user + system + (cpuMs * DEFAULTS.cpuFactor + DEFAULTS.cpuSlackMs) * 1_000;
      most[2] = user + system;
      Atomics.store(isActive, 0, 1);
      Atomics.notify(isActive, 0);
    },
    stop: () => {
      Atomics.store(isActive, 0, 0);
    },
  };
}
