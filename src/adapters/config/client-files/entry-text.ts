/** One that is not closed goes to the end, so that its end is looked for once. */
const PLACEHOLDER = /\$\{([^}]*)(\}|$)/g;

/** A copy with every text in it changed; keys stay. */
export function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
}

/** Puts something in the place of every `${…}`. */
export function fillPlaceholders(text: string, fill: (inner: string, written: string) => string): string {
  return text.replace(PLACEHOLDER, (written, inner: string, end) =>
    end === '' ? written : fill(inner, written),
  );
}

/** A text that PML reads as `text`, `${X}` included: for clients that fill nothing in. */
export function literal(text: string): string {
  return fillPlaceholders(text, (_, written) => `$${written}`);
}
