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
