import type { CapabilitySummary } from '../../../shared/api-types.ts';
import { percent } from '../../format.ts';

/** How many of its runs succeeded, as a bar; the mark on it is what can be relied on given how few there were. */
export function SuccessMeter({
  of: { uses, success_rate, reliability },
}: {
  of: Pick<CapabilitySummary, 'uses' | 'success_rate' | 'reliability'>;
}) {
  if (uses === 0) return <span class="faint">not used yet</span>;
  return (
    <span class="capability-meter" title={`At least ${percent(reliability)} can be relied on`}>
      <span class="capability-meter-bar" aria-hidden="true">
        <i style={{ width: percent(success_rate) }} />
        <b style={{ left: percent(reliability) }} />
      </span>
      <span class="number">{percent(success_rate)}</span>
    </span>
  );
}
