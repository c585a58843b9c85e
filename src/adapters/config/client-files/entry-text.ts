export const PLACEHOLDER = /\$\{([^}]*)\}/g;

/** A copy with every text in it changed; keys stay. */
export function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
}

/** A text that PML reads as `text`, `${X}` included: for clients that fill nothing in. */
export function literal(text: string): string {
  return text.replace(PLACEHOLDER, (written) => `$${written}`);
}
