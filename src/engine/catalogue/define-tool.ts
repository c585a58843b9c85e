import { canonicalJson } from '../../core/policy/call-hash.ts';
import { toolId } from '../../core/vocabulary/ids.ts';
import type { ToolAnnotations, ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Crypto, UpstreamTool } from '../ports.ts';

/** Normalises what a server lists to PML's form, with the hash that pins all of it. */
export function defineTool(server: string, tool: UpstreamTool, crypto: Crypto): ToolDefinition {
  const { name, description: said, inputSchema, outputSchema, annotations, ...otherFields } = tool;
  const description = typeof said === 'string' ? said : '';
  const facts = {
    name,
    description,
    inputSchema: inputSchema ?? { type: 'object' },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(isObject(annotations) && { annotations: annotations as ToolAnnotations }),
    ...(Object.keys(otherFields).length > 0 && { otherFields }),
  };
  return {
    id: toolId(server, name),
    server,
    ...facts,
    definitionHash: crypto.sha256(canonicalJson(facts)),
  };
}

/** A definition as its server would list it. */
export function asListed(definition: ToolDefinition): UpstreamTool {
  const { name, description, inputSchema, outputSchema, annotations, otherFields } = definition;
  return {
    name,
    ...(description !== '' && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations && { annotations }),
    ...otherFields,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
