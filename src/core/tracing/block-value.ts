/** A block of an MCP result; only texts have one. */
interface Block {
  readonly text?: unknown;
}

/** Most texts are none, and finding that out by a failed parse costs more than the rest of a call. */
const LOOKS_LIKE_JSON = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** The texts of content blocks, line by line. */
export function blockText(blocks: readonly Block[]): string {
  return blocks
    .map((block) => block.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** What content blocks say to a program: parsed where their text is JSON, else the text. */
export function blockValue(blocks: readonly Block[]): unknown {
  const text = blockText(blocks);
  if (!LOOKS_LIKE_JSON.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
