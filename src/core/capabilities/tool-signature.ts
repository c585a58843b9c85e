import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { isJsonObject } from './json-object.ts';
import { commentText } from './one-line.ts';
import { schemaToType } from './schema-to-type.ts';

const DEFAULTS = {
  /** Characters of a description. */
  maxDescription: 200,
};

const OBSERVED = ' // output type observed, not declared';

/**
 * How a tool is called in code, as TypeScript. A tool that declares no output has the type of what it gave so
 * far, and says so.
 */
export function toolSignature(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema' | 'outputSchema'>,
  observedOutput?: unknown,
): string {
  const isDeclared = tool.outputSchema !== undefined && tool.outputSchema !== null;
  return signature(`mcp${member(tool.server)}${member(tool.name)}`, {
    description: tool.description,
    parameters: tool.inputSchema,
    output: isDeclared ? tool.outputSchema : observedOutput,
    isObserved: !isDeclared,
  });
}

export function capabilitySignature(capability: {
  readonly slug: string;
  readonly description: string;
  readonly parametersSchema: unknown;
  readonly outputSchema: unknown;
}): string {
  return signature(`capabilities${member(capability.slug)}`, {
    description: capability.description,
    parameters: capability.parametersSchema,
    output: capability.outputSchema,
    isObserved: true,
  });
}

interface Signature {
  readonly description: string;
  readonly parameters: unknown;
  readonly output: unknown;
  readonly isObserved: boolean;
}

function signature(target: string, { description, parameters, output, isObserved }: Signature): string {
  const about = commentText(description, DEFAULTS.maxDescription);
  const result = schemaToType(output);
  return [
    about === '' ? '' : `/** ${about} */\n`,
    `${target}(${parameterList(parameters)}): Promise<${result}>`,
    isObserved && result !== 'unknown' ? OBSERVED : '',
  ].join('');
}

function parameterList(schema: unknown): string {
  if (!isJsonObject(schema)) return 'args?: Record<string, unknown>';
  const { properties, additionalProperties: rest, required } = schema;
  const isClosed = rest === undefined || rest === false;
  const isCombined = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema);
  if (Object.keys(properties ?? {}).length === 0 && isClosed && !isCombined) return '';
  const mustBeGiven = isCombined || (Array.isArray(required) && required.length > 0);
  return `args${mustBeGiven ? '' : '?'}: ${schemaToType(schema)}`;
}

function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
