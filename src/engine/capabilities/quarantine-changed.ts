import { quarantineReason } from '../../core/capabilities/lifecycle.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CapabilityRegistry } from './capability-registry.ts';
import { quarantined } from './count-uses.ts';

/** A capability was proven with its tools as they were: when one changes, a person has to look at it. */
export async function quarantineChanged(registry: CapabilityRegistry, catalogue: Catalogue): Promise<void> {
  for (const { id } of registry.all()) {
    await registry.change(async () => {
      const capability = registry.get(id);
      if (capability?.state !== 'active') return;
      const { definitionHashes } = capability.evidence;
      const currentHash = (tool: string) => currentDefinition(catalogue, tool);
      const reason = quarantineReason({ recent: [], definitionHashes, currentHash });
      if (reason !== null) await registry.put(quarantined(capability, reason));
    });
  }
}

/** What the tool's server says it is now, accepted or not. */
export function currentDefinition(catalogue: Catalogue, tool: string): string | undefined {
  const entry = catalogue.get(tool as ToolId);
  return (entry?.proposed ?? entry?.tool)?.definitionHash;
}
