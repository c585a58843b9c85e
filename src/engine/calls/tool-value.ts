import { blockText, blockValue } from '../../core/tracing/read-values.ts';
import type { ToolResult } from '../ports.ts';

/** What a tool gave, as code and plans see it: its structured content, else parsed JSON text, else text. */
export function toolValue(result: ToolResult): unknown {
  return result.structuredContent !== undefined ? result.structuredContent : blockValue(result.content ?? []);
}

export function toolText(result: ToolResult): string {
  return blockText(result.content ?? []);
}

/** What is kept of a result with a trace: the value code sees, or the blocks when they are more than text. */
export function valueToKeep(result: ToolResult): unknown {
  const isText = (result.content ?? []).every((block) => block.type === 'text');
  return result.structuredContent !== undefined || isText ? toolValue(result) : result.content;
}
