import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { toolText } from './tool-text.ts';
import { words } from './words.ts';

/**
 * What of a tool is searched by words: all that is embedded, and the name once more, for it is the
 * shortest true description.
 */
export function toolWords(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>,
): string[] {
  return [...words(tool.name), ...words(toolText(tool))];
}
