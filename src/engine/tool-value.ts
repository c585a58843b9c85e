import type { ToolResult } from './ports.ts';

/** What a tool gave, as code and plans see it: its structured content, else parsed JSON text, else text. */
export function toolValue(result: ToolResult): unknown {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const text = toolText(result);
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
