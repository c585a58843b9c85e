import { Worker } from 'node:worker_threads';
import type { SandboxSettings } from '../../../engine/ports.ts';
import { type WatchState, type WatchTask, watchProcess } from './watch-process.ts';

const DEFAULTS = {
  /** The engine needs room beside what it gives a program, and takes up to twice a limit before it notices. */
  memoryFactor: 2,
  memorySlackMb: 64,
  /** Compiling in the background, and all the child does beside the program, count for the process. */
  cpuFactor: 1.1,
  cpuSlackMs: 100,
  /** How long the watching thread may take to come up. */
  patienceMs: 10_000,
};

const NOT_UP: WatchTask = 0;
const REST: WatchTask = 1;
const WATCH: WatchTask = 2;

const SOURCE = `(${watchProcess})(require('node:worker_threads').workerData, require('node:fs').writeSync)`;

export interface Watch {
  /** Returns when the watching thread is up; the process should have all it needs at rest by then. */
  wait(): void;
  start(limits: SandboxSettings): void;
  stop(): void;
}

/** Guards what the thread that runs programs cannot while one of them keeps it busy. */
export function startWatch(): Watch {
  const task = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const most = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  const workerData: WatchState = { task, most, host: process.ppid };
  new Worker(SOURCE, { eval: true, workerData, execArgv: [], env: {} }).unref();
  let restingBytes = 0;
  return {
    wait() {
      const outcome = Atomics.wait(task, 0, NOT_UP, DEFAULTS.patienceMs);
      // Rarely, on a busy machine, a thread never comes up. Another process will do; nobody waits for this one.
      if (outcome === 'timed-out') process.kill(process.pid, 'SIGKILL');
      restingBytes = process.memoryUsage.rss();
    },
    start({ memoryMb, cpuMs }) {
      const { user, system } = process.cpuUsage();
      most[0] = restingBytes + (memoryMb * DEFAULTS.memoryFactor + DEFAULTS.memorySlackMb) * 2 ** 20;
      most[1] = user + system + (cpuMs * DEFAULTS.cpuFactor + DEFAULTS.cpuSlackMs) * 1_000;
      most[2] = user + system;
      Atomics.store(task, 0, WATCH);
      Atomics.notify(task, 0);
    },
    stop: () => {
      Atomics.store(task, 0, REST);
    },
  };
}
