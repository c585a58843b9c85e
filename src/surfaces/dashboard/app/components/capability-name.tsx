import type { CapabilitySummary } from '../../shared/api-types.ts';
import { shownLine } from '../shown-text.ts';

/** In a row of a table: what it is called, and below what it is for. */
export function CapabilityName({ slug, description }: Pick<CapabilitySummary, 'slug' | 'description'>) {
  return (
    <>
      <span class="strong mono">{shownLine(slug, 80)}</span>
      <span class="cell-note muted">{shownLine(description, 120)}</span>
    </>
  );
}
