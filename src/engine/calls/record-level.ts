import { matchesAnyCase } from '../../core/policy/glob.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import { addLeaves } from '../../core/tracing/found-secrets.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Settings } from '../ports.ts';

export type RecordLevel = 'none' | 'metadata' | 'full';

/** How much of a tool's calls is kept. */
export function recordLevel({ record }: Pick<Settings, 'record'>, toolId: string): RecordLevel {
  return record.find((rule) => matchesAnyCase(rule.tools, toolId))?.keep ?? 'full';
}

/** The least that is kept of any call a program may make, as far as its text tells. */
export function levelOfProgram(settings: Pick<Settings, 'record'>, { nodes }: StaticStructure): RecordLevel {
  const levels = nodes.map((node) => (node.type === 'task' ? recordLevel(settings, node.tool) : 'full'));
  return levels.includes('none') ? 'none' : levels.includes('metadata') ? 'metadata' : 'full';
}

/** What a program hands to calls of which no arguments are kept stands in its text, too. */
export function concealLiterals(
  { found }: Pick<FlowPorts, 'found'>,
  settings: Pick<Settings, 'record'>,
  { nodes }: StaticStructure,
): void {
  for (const node of nodes) {
    if (node.type !== 'task' || recordLevel(settings, node.tool) === 'full') continue;
    for (const binding of Object.values(node.arguments.bindings))
      if (binding.kind === 'literal' && found) addLeaves(found, binding.value);
  }
}
