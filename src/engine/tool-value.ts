import type { ToolResult } from './ports.ts';

/** Most texts are none, and finding that out by a failed parse costs more than the rest of a call. */
const LOOKS_LIKE_JSON = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** What a tool gave, as code and plans see it: its structured content, else parsed JSON text, else text. */
export function toolValue(result: ToolResult): unknown {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const text = toolText(result);
  if (!LOOKS_LIKE_JSON.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function toolText(result: ToolResult): string {
  return (result.content ?? [])
    .map((block) => block.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** What is kept of a result with a trace: the value code sees, or the blocks when they are more than text. */
export function valueToKeep(result: ToolResult): unknown {
  const isText = (result.content ?? []).every((block) => block.type === 'text');
  return result.structuredContent !== undefined || isText ? toolValue(result) : result.content;
}
