/**
 * The thread beside the one that runs programs. It ends the process when a program takes too much, however
 * busy it keeps the other thread, and when the host is gone.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { LastWords } from '../messages.ts';
import { WATCH, type WatchState } from './watch.ts';

const DEFAULTS = {
  /** Milliseconds between two looks: a program can take more than 1 MB per millisecond. */
  interval: 15,
};

const STDERR = 2;
const { task, most, host } = workerData as WatchState;

Atomics.store(task, 0, WATCH.rest);
Atomics.notify(task, 0);
for (;;) {
  Atomics.wait(task, 0, WATCH.rest);
  Atomics.wait(task, 0, WATCH.watch, DEFAULTS.interval);
  if (Atomics.load(task, 0) === WATCH.watch) look();
}

function look(): void {
  if (process.ppid !== host) end();
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system - most[2]!) / 1_000;
  if (process.memoryUsage.rss() > most[0]!) end({ limit: 'memory', cpuMs });
  if (user + system > most[1]!) end({ limit: 'cpu', cpuMs });
}

function end(words?: LastWords): void {
  if (words) writeSync(STDERR, `${JSON.stringify(words)}\n`);
  process.kill(process.pid, 'SIGKILL');
}
