import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const DEFAULTS = {
  /**
   * Milliseconds between two looks at the main thread, and at the whole process: its other threads collect their own
   * garbage some seconds after their work, and that comes first.
   */
  lookMs: 5_000,
  wholeLookMs: 15_000,
  /** Share of one core below which something rests, and the CPU milliseconds that are worth cleaning up after. */
  rest: 0.03,
  worthMs: 1_000,
};

/** What something has used, and how it returns what it holds without need. */
export interface Holdings {
  /** Milliseconds between two looks. */
  readonly lookMs: number;
  /** CPU milliseconds so far. */
  cpuMs(): number;
  giveBack(): void;
}

/**
 * Collects garbage and returns freed memory to the system when the main thread, or the process, rests after work. The
 * engine collects when it allocates, so what a burst of runs leaves stays until the next burst; the C library keeps freed
 * blocks for good.
 */
export function returnMemory(all: readonly Holdings[] = ofProcess()): () => void {
  const timers = all.map(watch);
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

function watch({ lookMs, cpuMs, giveBack }: Holdings): NodeJS.Timeout {
  let before = cpuMs();
  let cleaned = 0;
  const look = () => {
    const now = cpuMs();
    const isResting = now - before <= DEFAULTS.rest * lookMs;
    before = now;
    if (!isResting || now - cleaned < DEFAULTS.worthMs) return;
    giveBack();
    before = cleaned = cpuMs();
  };
  return setInterval(look, lookMs).unref();
}

/**
 * The main thread, which may rest while another one trains for a minute, and this process with the C library it runs
 * with.
 */
export function ofProcess(): readonly Holdings[] {
  const sum = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  const main: Holdings = {
    lookMs: DEFAULTS.lookMs,
    cpuMs: () => sum(process.threadCpuUsage()),
    giveBack() {
      collectGarbage();
      trim();
    },
  };
  const whole = { lookMs: DEFAULTS.wholeLookMs, cpuMs: () => sum(process.cpuUsage()), giveBack: trim };
  return [main, whole];
}

/** A new context of its own: the global `gc` appears nowhere else. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}

/** Where the C library is glibc; others return what is freed by themselves, or have no such function. */
function trim(): void {
  if (process.platform !== 'linux') return;
  try {
    const signature = { arguments: ['uint64'], return: 'int32' } as const;
    const { lib, functions } = nativeFunctions().dlopen(null, { malloc_trim: signature });
    functions.malloc_trim(0n);
    lib.close();
  } catch {
    // Memory stays where it is.
  }
}

/** Loading it prints that it is experimental, which is no news to a user. Nothing but this depends on it. */
function nativeFunctions(): typeof import('node:ffi') {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = emitWarning;
  }
}
