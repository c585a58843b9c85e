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
