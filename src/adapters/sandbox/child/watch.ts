import { Worker } from 'node:worker_threads';
import type { SandboxSettings } from '../../../engine/ports.ts';
import type { LastWords } from '../messages.ts';

/** State of the watching thread: 0 not started, 1 rest, 2 watch. */
type WatchTask = 0 | 1 | 2;

/** Memory shared with the watching thread. */
interface WatchState {
  /** A `WatchTask`. */
  readonly task: Int32Array;
  /**
   * Limits: resident bytes; CPU microseconds since the process began; how many of those were used before the
   * run.
   */
  readonly most: Float64Array;
  /** Id of the parent process. */
  readonly host: number;
}

const DEFAULTS = {
  /** V8 needs memory besides the program's, and may use twice a limit before it notices. */
  memoryFactor: 2,
  memorySlackMb: 64,
  /** CPU time of the whole process includes background compilation and the child's own work. */
  cpuFactor: 1.1,
  cpuSlackMs: 100,
  /** Milliseconds the watching thread may take to start. */
  patienceMs: 10_000,
};

const NOT_UP: WatchTask = 0;
const REST: WatchTask = 1;
const WATCH: WatchTask = 2;

const SOURCE = `(${watchProcess})(require('node:worker_threads').workerData, require('node:fs').writeSync)`;

export interface Watch {
  /**
   * Returns when the watching thread has started. By then the process should have loaded everything it needs.
   */
  wait(): void;
  start(limits: SandboxSettings): void;
  stop(): void;
}

/** Enforces limits while a program keeps the main thread busy. */
export function startWatch(): Watch {
  const task = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const most = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  const workerData: WatchState = { task, most, host: process.ppid };
  new Worker(SOURCE, { eval: true, workerData, execArgv: [], env: {} }).unref();
  let restingBytes = 0;
  return {
    wait() {
      const outcome = Atomics.wait(task, 0, NOT_UP, DEFAULTS.patienceMs);
      // Rarely, on a busy machine, a thread never starts. Exit: no run has been assigned to this process yet.
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
 * The watching thread. It kills the process when a program exceeds a limit, even if the main thread is busy,
 * and when the host is gone. Its source is passed as text: a thread that loads no module starts in half the
 * time.
 */
function watchProcess({ task, most, host }: WatchState, say: (fd: number, text: string) => void): never {
  /** Milliseconds between two checks: a program can allocate more than 1 MB per millisecond. */
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
