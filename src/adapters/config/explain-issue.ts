import type { JSONPath } from 'jsonc-parser';
import { z } from 'zod';
import { nearestName } from '../../core/retrieval/words.ts';
import { configSchema } from './schema.ts';
import type { ConfigProblems } from './source-text.ts';
import { locate, locateKey, type SourceText } from './source-text.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string in double quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list: [ … ]',
  object: 'an object: { … }',
  record: 'an object: { … }',
};

/** Maps the validated value to the file: `config` is validated, `source` is the written text. */
export interface Checked {
  readonly config: unknown;
  readonly source: SourceText;
  /** Maps a path in `config` to the path in the file. */
  readonly pathInFile: (path: JSONPath) => JSONPath;
}

/** Turns a schema issue into a sentence: which key, what is wrong, what was probably meant. */
export function explainIssue(issue: z.core.$ZodIssue, checked: Checked, problems: ConfigProblems): void {
  const path = issue.path as JSONPath;
  const inFile = checked.pathInFile(path);
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const here = [...inFile, key];
      const message = `is not a known key; ${suggestKey(path, key, checked.config)}`;
      problems.add(locateKey(checked.source, here), here, message);
    }
    return;
  }
  if (issue.code === 'invalid_key') {
    problems.add(locateKey(checked.source, inFile), inFile, issue.issues[0]!.message);
    return;
  }
  problems.add(locate(checked.source, inFile), inFile, wrong(issue, valueAt(checked.config, path)));
}

function wrong(issue: z.core.$ZodIssue, given: unknown): string {
  if (issue.code === 'invalid_union' && 'options' in issue)
    return mustBeOneOf(issue.options as string[], given);
  if (issue.code === 'invalid_value') return mustBeOneOf(issue.values.map(String), given);
  if (given === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** Lists the allowed values and not the given one, which could be a secret in the wrong place. */
function mustBeOneOf(options: readonly string[], given: unknown): string {
  const list = options.map((option) => `"${option}"`).join(', ');
  const meant = typeof given === 'string' ? nearestName(given, options) : null;
  return `must be one of ${list}${meant === null ? '' : `; did you mean "${meant}"?`}`;
}

function suggestKey(path: JSONPath, key: string, config: unknown): string {
  const schema = configJsonSchema();
  const known = keysAt(schema, path, config);
  const below = path.length === 0 ? keysAt(schema, ['pml'], config) : [];
  const meant = nearestName(key, known);
  if (meant !== null && !below.includes(key)) return `did you mean "${meant}"?`;
  const meantBelow = nearestName(key, below);
  if (meantBelow !== null) return `did you mean "${meantBelow}" under "pml"?`;
  return `known here: ${known.join(', ')}`;
}

function keysAt(schema: JsonSchema, path: JSONPath, value: unknown): string[] {
  const alternatives = schema.properties ? [schema] : (schema.oneOf ?? []);
  const fitting = alternatives.filter((one) => fits(one, value));
  const [step, ...rest] = path;
  if (step === undefined) return [...new Set(fitting.flatMap((one) => Object.keys(one.properties ?? {})))];
  const below = fitting.map((one) => one.properties?.[step]).find((found) => found !== undefined);
  const next = below ?? schema.additionalProperties;
  return typeof next === 'object' ? keysAt(next, rest, valueAt(value, [step])) : [];
}

/** Whether a value has the fixed values (such as `kind`) of one of several alternatives. */
function fits(schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema.properties ?? {}).every(
    ([key, { const: fixed }]) => fixed === undefined || valueAt(value, [key]) === fixed,
  );
}

function valueAt(value: unknown, path: JSONPath): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

export interface JsonSchema {
  readonly const?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly oneOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** JSON Schema of pml.json for editors. Draft 7, which editors support best. */
export function configJsonSchema(): JsonSchema {
  const generated = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' }) as JsonSchema;
  // VS Code's JSON editor supports these; validators ignore them.
  return { ...generated, allowComments: true, allowTrailingCommas: true };
}
