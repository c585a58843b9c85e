import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

/**
 * What an approval is bound to: the tool, its definition at that time, and the exact arguments. Canonical,
 * so that only the order of keys does not matter.
 */
export function callFingerprint(toolId: string, definitionHash: string, args: unknown): string {
  return canonicalJson([toolId, definitionHash, args]);
}

/** JSON with sorted object keys (close to RFC 8785; numbers as JavaScript prints them). */
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

/** One field of a definition as a person accepted it and as the server has it now; undefined where it is missing. */
export interface DefinitionChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What a server changed in a tool since it was accepted, field by field. */
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

/** The fields with the names that the server uses. */
function fieldsOf(tool: ToolDefinition): Readonly<Record<string, unknown>> {
  const { description, inputSchema, outputSchema, annotations, otherFields } = tool;
  return { description, inputSchema, outputSchema, annotations, ...otherFields };
}

const DEFAULTS = {
  /** Lines of either text that are compared one by one; longer texts are shown whole, one after the other. */
  lines: 400,
};

/**
 * Every line of both texts once: kept as `  line`, gone as `- line`, new as `+ line`. Longest common subsequence by
 * dynamic programming (Wagner and Fischer, "The String-to-String Correction Problem", 1974).
 */
export function diffLines(before: unknown, after: unknown): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (old.length > DEFAULTS.lines || now.length > DEFAULTS.lines)
    return [...old.map((line) => `- ${line}`), ...now.map((line) => `+ ${line}`)];
  // Row i, column j: lines that old[i..] and now[j..] have in common. Shape (old + 1) x (now + 1).
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const told: string[] = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      told.push(`  ${old[i++]}`);
      j++;
    } else if (
      j >= now.length ||
      (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      told.push(`- ${old[i++]}`);
    else told.push(`+ ${now[j++]}`);
  }
  return told;
}

/** A text by sentence, since most descriptions are one line; other values as indented JSON. */
function linesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string') return JSON.stringify(value, null, 2).split('\n');
  return value.replaceAll('. ', '.\n').split('\n');
}
