export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Wait before try number `failures` + 1: exponential, with "equal jitter" (half of it fixed, half
 * random), so that servers lost together do not come back together.
 * Marc Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
 */
export function backoffMs(failures: number, options: BackoffOptions, random: () => number): number {
  if (failures <= 0) return 0;
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
}
