import { canonicalJson } from '../core/policy/call-hash.ts';
import { toolId } from '../core/vocabulary/ids.ts';
import type { ToolAnnotations, ToolDefinition } from '../core/vocabulary/tool-definition.ts';
import type { Crypto, UpstreamTool } from './ports.ts';

/** Normalises what a server lists to PML's form, with the hash that pins it. */
export function defineTool(server: string, tool: UpstreamTool, crypto: Crypto): ToolDefinition {
  const description = typeof tool.description === 'string' ? tool.description : '';
  const facts = {
    name: tool.name,
    description,
    inputSchema: tool.inputSchema ?? { type: 'object' },
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    ...(isObject(tool.annotations) && { annotations: tool.annotations as ToolAnnotations }),
  };
  return {
    id: toolId(server, tool.name),
    server,
    ...facts,
    definitionHash: crypto.sha256(canonicalJson(facts)),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
