import type { LastWords } from '../messages.ts';

/** What the watching thread is to do: be there, rest, or watch. */
export type WatchTask = 0 | 1 | 2;

/** Shared with the watching thread. */
export interface WatchState {
  /** A `WatchTask`. */
  readonly task: Int32Array;
  /** Resident bytes; microseconds of CPU since the process began; how many of these came before the run. */
  readonly most: Float64Array;
  /** Process id of whoever started this process. */
  readonly host: number;
}

/**
 * The thread beside the one that runs programs. It ends the process when a program takes too much, however
 * busy it keeps the other thread, and when the host is gone. Sent into its thread as text: a thread that
 * loads no module is up in half the time.
 */
export function watchProcess(
  { task, most, host }: WatchState,
  say: (fd: number, text: string) => void,
): never {
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
