const STEPS = [1, 2, 5, 10];

/**
 * Round values that embrace a range, about `count` of them (Heckbert, "Nice numbers for graph labels",
 * Graphics Gems, 1990).
 */
export function niceTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((factor) => factor * magnitude).find((size) => size >= rough * (1 - 1e-9))!;
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  // Counted in steps, so that no error adds up.
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** As `format` says them; with as many digits as tell them apart where that says two the same. */
export function tickLabels(ticks: readonly number[], format: (value: number) => string): string[] {
  const labels = ticks.map(format);
  if (new Set(labels).size === labels.length) return labels;
  const digits = Math.max(...ticks.map((tick) => String(tick).split('.')[1]?.length ?? 0));
  return ticks.map((tick) => tick.toFixed(digits));
}
