import { quarantineReason } from '../../core/capabilities/quarantine.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CapabilityBook } from './capability-book.ts';
import { quarantined } from './count-uses.ts';

/** A capability was proven with its tools as they were: when one changes, a person has to look at it. */
export async function quarantineChanged(book: CapabilityBook, catalogue: Catalogue): Promise<void> {
  for (const { id } of book.all()) {
    await book.change(async () => {
      const capability = book.get(id);
      if (capability?.state !== 'active') return;
      const { definitionHashes } = capability.evidence;
      const currentHash = (tool: string) => currentDefinition(catalogue, tool);
      const reason = quarantineReason({ recent: [], definitionHashes, currentHash });
      if (reason !== null) await book.put(quarantined(capability, reason));
    });
  }
}

/** What the tool's server says it is now, accepted or not. */
export function currentDefinition(catalogue: Catalogue, tool: string): string | undefined {
  const entry = catalogue.get(tool as ToolId);
  return (entry?.proposed ?? entry?.tool)?.definitionHash;
}
