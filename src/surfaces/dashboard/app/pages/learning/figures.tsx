/** A difference with its 95 % interval on a line whose middle is 0 and whose ends are `reach` away. */
export function Interval({
  gain,
  ci95: [low, high],
  reach,
}: {
  gain: number;
  ci95: readonly [number, number];
  reach: number;
}) {
  const at = (value: number) => `${50 + 50 * Math.max(-1, Math.min(1, value / reach))}%`;
  const width = `${50 * Math.min(2, (Math.min(reach, high) - Math.max(-reach, low)) / reach)}%`;
  const tone = low > 0 ? 'up' : high < 0 ? 'down' : 'even';
  return (
    <span
      class={`interval interval-${tone}`}
      role="img"
      aria-label={`${signed(gain)}, from ${signed(low)} to ${signed(high)}`}
    >
      <i style={{ left: at(low), width }} />
      <b style={{ left: at(gain) }} />
    </span>
  );
}

/** With its sign, as differences are told; what is shown as 0 has neither. */
export function signed(value: number, digits = 3): string {
  const figure = Math.abs(value).toFixed(digits);
  const sign = Number(figure) === 0 ? '±' : value < 0 ? '−' : '+';
  return `${sign}${figure}`;
}

/** How far something is. */
export function ProgressBar({ label, done, total }: { label: string; done: number; total: number }) {
  const reached = Math.min(done, total);
  return (
    <div
      class="learning-bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={reached}
    >
      <i style={{ width: `${(100 * reached) / Math.max(1, total)}%` }} />
    </div>
  );
}
