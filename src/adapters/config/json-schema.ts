import { z } from 'zod';
import { configSchema } from './schema.ts';

export interface JsonSchema {
  readonly const?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly oneOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** For editors: what may stand in pml.json. Draft 7, because that is what editors know best. */
export function configJsonSchema(): JsonSchema {
  const generated = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' }) as JsonSchema;
  // Understood by VS Code's JSON editor, ignored by validators.
  return { ...generated, allowComments: true, allowTrailingCommas: true };
}

/** What pml.schema.json holds; it is published with the package, so that editors find it. */
export function schemaFileText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}
