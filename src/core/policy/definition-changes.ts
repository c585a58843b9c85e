import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { canonicalJson } from './call-hash.ts';

/** One field of a definition as a person accepted it, and as its server has it now; undefined where it is not there. */
export interface DefinitionChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a server changed of a tool since it was accepted, field by field. */
export function definitionChanges(accepted: ToolDefinition, proposed: ToolDefinition): DefinitionChange[] {
  return fieldChanges(fieldsOf(accepted), fieldsOf(proposed));
}

export function fieldChanges(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): DefinitionChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, before: before[field], after: after[field] }))
    .filter((change) => canonicalJson(change.before) !== canonicalJson(change.after));
}

/** As the server spells them. */
function fieldsOf(tool: ToolDefinition): Readonly<Record<string, unknown>> {
  const { description, inputSchema, outputSchema, annotations, otherFields } = tool;
  return { description, inputSchema, outputSchema, annotations, ...otherFields };
}
