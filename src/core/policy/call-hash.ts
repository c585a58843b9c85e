import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

/**
 * What an approval binds to: the tool, the definition it had, and the exact arguments. Canonical,
 * so that the order of keys does not matter and everything else does.
 */
export function callFingerprint(toolId: string, definitionHash: string, args: unknown): string {
  return canonicalJson([toolId, definitionHash, args]);
}

/** JSON with the keys of every object in order (RFC 8785 in spirit; numbers as JavaScript prints them). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

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
