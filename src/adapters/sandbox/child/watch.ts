import { Worker } from 'node:worker_threads';
import type { SandboxSettings } from '../../../engine/ports.ts';
import type { LastWords } from '../messages.ts';

/** What the watching thread is to do: be there, rest, or watch. */
type WatchTask = 0 | 1 | 2;

/** Shared with the watching thread. */
interface WatchState {
  /** A `WatchTask`. */
  readonly task: Int32Array;
  /** Resident bytes; microseconds of CPU since the process began; how many of these came before the run. */
  readonly most: Float64Array;
  /** Id of the process that started this one. */
  readonly host: number;
}

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

/**
 * The thread beside the one that runs programs. It ends the process when a program takes too much, however
 * busy it keeps the other thread, and when the host is gone. Sent into its thread as text: a thread that
 * loads no module is up in half the time.
 */
function watchProcess({ task, most, host }: WatchState, say: (fd: number, text: string) => void): never {
  /** Milliseconds between two looks: a program can take more than 1 MB per millisecond. */
  const INTERVAL = 15;
  const STDERR = 2;
  const [rest, watch] = [1, 2];

  const end = (words?: LastWords) => {
    if (words) say(STDERR, `${JSON.stringify(words)}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  const look = () => {
    if (process.ppid !== host) end();
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system - most[2]!) / 1_000;
    if (process.memoryUsage.rss() > most[0]!) end({ limit: 'memory', cpuMs });
    if (user + system > most[1]!) end({ limit: 'cpu', cpuMs });
  };

  Atomics.store(task, 0, rest);
  Atomics.notify(task, 0);
  for (;;) {
    Atomics.wait(task, 0, rest);
    Atomics.wait(task, 0, watch, INTERVAL);
    if (Atomics.load(task, 0) === watch) look();
  }
}
