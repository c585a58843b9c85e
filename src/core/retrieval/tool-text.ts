import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { identifierWords, words } from './words.ts';

/**
 * What of a tool is embedded: name and server as words, the description, the names of the parameters.
 * Against the bare description this lifts cosine search on livemcp from MRR .39 to .49 and leaves
 * mcpbench where it was; names that are not taken apart lose .02. Said as a phrase, "name in server", a
 * server that tells nothing (one for all tools) does less harm than standing first.
 */
export function toolText(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>,
): string {
  const parameters = parameterNames(tool.inputSchema).map(identifierWords);
  const head = `${identifierWords(tool.name)} in ${identifierWords(tool.server)}: ${tool.description.trim()}`;
  return parameters.length === 0 ? head : `${head} (${parameters.join(', ')})`;
}

/** The top-level properties of a JSON Schema, as the server lists them. */
function parameterNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties } = schema as { properties?: unknown };
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/**
 * What of a tool is searched by words: all that is embedded, and the name once more, for it is the
 * shortest true description.
 */
export function toolWords(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema'>,
): string[] {
  return [...words(tool.name), ...words(toolText(tool))];
}
