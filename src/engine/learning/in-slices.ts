import type { FlowPorts } from '../flow-ports.ts';

const DEFAULTS = {
  /** How long work goes on before it lets others run, in milliseconds. */
  slice: 8,
};

/** Drives long work to its end without holding anybody up; rejects when the signal ends it. */
export async function inSlices<T>(
  steps: Iterator<unknown, T>,
  { clock, sleep }: Pick<FlowPorts, 'clock' | 'sleep'>,
  signal?: AbortSignal,
): Promise<T> {
  let until = clock.monotonic() + DEFAULTS.slice;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (clock.monotonic() < until) continue;
    await sleep(0);
    signal?.throwIfAborted();
    until = clock.monotonic() + DEFAULTS.slice;
  }
}
