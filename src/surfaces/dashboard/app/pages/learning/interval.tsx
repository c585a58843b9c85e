import { signed } from './signed.ts';

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
