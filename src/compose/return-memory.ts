import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const DEFAULTS = {
  /** Milliseconds between two looks. */
  lookMs: 10_000,
  /** Share of one core below which the process rests, and the CPU milliseconds that are worth cleaning up after. */
  rest: 0.03,
  worthMs: 1_000,
};

/** What the process has used, and how it returns what it holds without need. */
export interface Holdings {
  /** CPU milliseconds of all threads so far. */
  cpuMs(): number;
  giveBack(): void;
}

/**
 * Collects garbage and returns freed memory to the system when the process rests after work. The engine collects when it
 * allocates, so what a burst of runs leaves stays until the next burst; the C library keeps freed blocks for good.
 */
export function returnMemory(holdings: Holdings = ofProcess(), lookMs: number = DEFAULTS.lookMs): () => void {
  let before = holdings.cpuMs();
  let cleaned = 0;
  const timer = setInterval(() => {
    const now = holdings.cpuMs();
    const isResting = now - before <= DEFAULTS.rest * lookMs;
    before = now;
    if (!isResting || now - cleaned < DEFAULTS.worthMs) return;
    holdings.giveBack();
    before = cleaned = holdings.cpuMs();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** This process and the C library it runs with. */
export function ofProcess(): Holdings {
  return {
    cpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    giveBack() {
      collectGarbage();
      trim();
    },
  };
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
