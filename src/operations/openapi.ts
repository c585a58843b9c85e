import { inputFields, jsonSchema } from './input-fields.ts';
import { errorShape } from './list-servers.ts';
import type { AnyOperation, HttpRoute } from './operation.ts';

type Json = Readonly<Record<string, unknown>>;

/** The operations that have a route, as an OpenAPI 3.1 document. */
export function openApi(operations: readonly AnyOperation[], version: string): Json {
  const components: Record<string, unknown> = {};
  /** Moves named schemas to `components`, so that each is described once. */
  const lifted = (schema: Json): Json => {
    const { $defs, ...rest } = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
    ) as Json & { $defs?: Json };
    Object.assign(components, $defs);
    return rest;
  };
  const failure = lifted(jsonSchema(errorShape, 'output'));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const { http } = operation;
    if (!http) continue;
    const path = `/api${http.path.replace(/:(\w+)/g, '{$1}')}`;
    paths[path] = {
      ...paths[path],
      [http.method.toLowerCase()]: {
        operationId: operation.name,
        summary: operation.summary,
        'x-pml-right': operation.right,
        ...request(operation, http, lifted),
        responses: {
          200: {
            description: 'Success',
            content: { 'application/json': { schema: lifted(jsonSchema(operation.output, 'output')) } },
          },
          default: {
            description: 'Error',
            content: {
              'application/json': {
                schema: { type: 'object', properties: { error: failure }, required: ['error'] },
              },
            },
          },
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'PML', version },
    security: [{ token: [] }],
    paths: Object.fromEntries(Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: components,
    },
  };
}

function request(operation: AnyOperation, http: HttpRoute, lifted: (schema: Json) => Json): Json {
  const inPath = (name: string) => http.path.split('/').includes(`:${name}`);
  const fields = inputFields(operation);
  const parameters = fields
    .filter(({ name }) => http.method === 'GET' || inPath(name))
    .map(({ name, schema, isRequired }) => ({
      name: inPath(name) ? name : (http.query?.[name] ?? name),
      in: inPath(name) ? 'path' : 'query',
      required: isRequired || inPath(name),
      schema,
      ...(schema.type === 'array' && { style: 'form', explode: false }),
    }));
  const formats = http.files
    ? [{ name: 'format', in: 'query', required: false, schema: { enum: Object.keys(http.files) } }]
    : [];
  const inBody = fields.filter(({ name }) => http.method === 'POST' && !inPath(name));
  const required = inBody.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const body = lifted({
    type: 'object',
    properties: Object.fromEntries(inBody.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  });
  return {
    ...(parameters.length + formats.length > 0 && { parameters: [...parameters, ...formats] }),
    ...(inBody.length > 0 && {
      requestBody: {
        required: required.length > 0,
        content: { 'application/json': { schema: body } },
      },
    }),
  };
}
