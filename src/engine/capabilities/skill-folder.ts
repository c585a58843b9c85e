import type { CapabilityService } from '../gateway.ts';

/** What the folder of an exported capability is to be called: Agent Skills want the name its manifest gives. */
export function skillFolder(files: Awaited<ReturnType<CapabilityService['export']>>): string {
  return /^name: *([a-z0-9-]+)/m.exec(files['SKILL.md'] ?? '')?.[1] ?? 'skill';
}
