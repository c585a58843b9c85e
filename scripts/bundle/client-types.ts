import { inputFields, jsonSchema } from '../../src/operations/input-fields.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { OPERATIONS } from '../../src/operations/table.ts';

/** The parts of a JSON Schema that the schemas of operations use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** The types of the published client, generated from the operations' schemas: one self-contained file. */
export function clientTypes(operations: readonly AnyOperation[] = OPERATIONS): string {
  const named = new Map<string, Schema>();
  const methods = operations.map((operation) => {
    const [input, output] = [jsonSchema(operation.input, 'input'), jsonSchema(operation.output, 'output')];
    for (const { $defs = {} } of [input, output] as Schema[]) {
      for (const [name, schema] of Object.entries($defs)) named.set(name, schema);
    }
    const method = operation.name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const isNeeded = inputFields(operation).some(({ isRequired }) => isRequired);
    return [
      `  /** ${operation.summary}. */`,
      `  ${method}(input${isNeeded ? '' : '?'}: ${typeOf(input as Schema)}, options?: CallOptions): Promise<${typeOf(output as Schema)}>;`,
    ].join('\n');
  });
  return [
    HEAD,
    ...[...named].map(([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`),
    `export interface PmlClient {\n${methods.join('\n')}\n}\n`,
  ].join('\n');
}

const HEAD = `/** Connects to a running gateway; the client has a method for each operation. */
export declare function connect(options?: ConnectOptions): Promise<PmlClient>;

export interface ConnectOptions {
  /** Address of the gateway, such as \`http://127.0.0.1:8080\`. By default read from the data folder. */
  readonly url?: string;
  /** A key from \`pml keys create\`. By default the token in the data folder. */
  readonly token?: string;
  /** By default \`PML_DATA\`, then \`~/.pml\`. */
  readonly dataDir?: string;
}

export interface CallOptions {
  /** Cancels the call and the work it started. */
  readonly signal?: AbortSignal;
}

/** An error from the gateway. */
export declare class PmlError extends Error {
  readonly name: 'PmlError';
  readonly code: string;
  readonly hint: string | undefined;
}
`;

/** A schema as a type, on one line. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/$defs/', '');
  if (schema.anyOf) return `(${schema.anyOf.map(typeOf).join(' | ')})`;
  if (schema.enum) return `(${schema.enum.map((value) => JSON.stringify(value)).join(' | ')})`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.prefixItems) return `readonly [${schema.prefixItems.map(typeOf).join(', ')}]`;
  const { type } = schema;
  if (typeof type === 'object') return `(${type.map((one) => typeOf({ ...schema, type: one })).join(' | ')})`;
  switch (type) {
    case 'array':
      return `readonly ${schema.items ? bracketed(typeOf(schema.items)) : 'unknown'}[]`;
    case 'object':
      return objectOf(schema);
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      return 'unknown';
  }
}

function objectOf({ properties = {}, required = [], additionalProperties: rest }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  if (rest === false) return 'Record<string, never>';
  return `Readonly<Record<string, ${typeof rest === 'object' ? typeOf(rest) : 'unknown'}>>`;
}

function bracketed(type: string): string {
  return type.startsWith('readonly ') ? `(${type})` : type;
}
