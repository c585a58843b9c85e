import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import { z } from 'zod';
import { nearestName } from '../../core/retrieval/words.ts';
import { isServerName } from '../../core/vocabulary/ids.ts';
import { fromClientEntry } from './client-files/client-dialects.ts';
import { type ConfigForm, clientVariables, isReadByUs, misspeltPml, recogniseForm } from './client-form.ts';
import { expandVariables, type UsedVariable, type VariableSource } from './expand-variables.ts';
import { type Config, configSchema } from './schema.ts';
import {
  ConfigProblems,
  locate,
  locateKey,
  parseSource,
  propertiesOf,
  type SourceText,
} from './source-text.ts';

const STDIO_ONLY = ['args', 'env', 'cwd', 'sandbox'];

const HTTP_ONLY = ['headers', 'auth'];

const NEEDED_BY_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['stdio', 'command'],
  ['http', 'url'],
  ['sse', 'url'],
  ['streamable-http', 'url'],
]);

const NEEDS_PLACE =
  'needs "url" or "origins" beside "openapi": the addresses that the document may send requests to';

const BAD_NAME =
  'is not a valid server name; use letters, digits, "_", "-" and "." ("code" and "capability" are reserved)';

interface ServerCheck {
  /** Path of the servers in the file. */
  readonly path: JSONPath;
  readonly source: SourceText;
  readonly problems: ConfigProblems;
  /** Servers with an unknown key, which may be a misspelt `command`. */
  readonly misspelt: ReadonlySet<PropertyKey | undefined>;
}

interface ReadConfig {
  readonly config: Config;
  readonly variables: readonly UsedVariable[];
  /** By server that uses one: which variable is not set, and what to do. */
  readonly unset: ReadonlyMap<string, string>;
}

interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Effect of an unset variable on the server that uses it; elsewhere in the file it is always an error. */
  readonly unset?: 'refuse' | 'disable';
}

/** Replaces an address with an unset variable; the name is reserved and never resolves (RFC 2606). */
const NOWHERE = 'http://unset.invalid';

/** Parses and validates the text; throws one error with all problems. */
export function readConfig(
  file: string,
  text: string,
  { env, home, unset = 'refuse' }: Environment,
): ReadConfig {
  const source = parseSource(file, text);
  const problems = new ConfigProblems(file, text);
  const form = recogniseForm(file, source.root);
  const serversInFile = form.servers ?? ['mcpServers'];
  const predefined = form.ours ? {} : clientVariables(file, home);
  const reader = createReader(
    text,
    problems,
    { env, predefined },
    (path) => form.ours || isReadByUs(path, form),
    unset === 'disable' ? serversInFile : null,
  );
  const raw = form.ours
    ? (reader.read(source.root, []) as Record<string, unknown>)
    : readClientFile(source, form, reader, problems);

  for (const name of reader.unset.keys()) {
    const entry = Object(raw.mcpServers)[name];
    const known = (url: unknown) => (String(url).includes('${') ? NOWHERE : url);
    if (entry?.url !== undefined) entry.url = known(entry.url);
    if (Array.isArray(entry?.origins)) entry.origins = entry.origins.map(known);
  }
  const pathInFile = (path: JSONPath) =>
    path[0] === 'mcpServers' ? [...serversInFile, ...path.slice(1)] : path;
  const checked = configSchema.safeParse(raw);
  const issues = checked.error?.issues ?? [];
  for (const issue of issues) explainIssue(issue, { config: raw, source, pathInFile }, problems);
  const entries = raw.mcpServers;
  if (typeof entries === 'object' && entries !== null) {
    const misspelt = new Set(
      issues.flatMap(({ code, path }) =>
        code === 'unrecognized_keys' && path[0] === 'mcpServers' ? [path[1]] : [],
      ),
    );
    checkServers(entries as Record<string, unknown>, { path: serversInFile, source, problems, misspelt });
  }
  problems.throwIfAny(reader.used.map(({ value }) => value));
  return { config: checked.data!, variables: reader.used, unset: reader.unset };
}

function readClientFile(
  { root }: SourceText,
  { servers }: ConfigForm,
  reader: Reader,
  problems: ConfigProblems,
): Record<string, unknown> {
  const misspelt = misspeltPml(root);
  if (misspelt) problems.add(misspelt.offset, [misspelt.value], 'is not a known key; did you mean "pml"?');
  if (servers === null) {
    const needed = 'needs one of the keys "pml", "mcpServers" or "servers"';
    if (propertiesOf(root).length > 0) problems.add(root.offset, [], needed);
    return {};
  }
  const entries = reader.read(findNodeAtLocation(root, servers)!, servers);
  if (typeof entries !== 'object' || entries === null || Array.isArray(entries))
    return { mcpServers: entries };
  const converted = Object.entries(entries).map(([name, entry]) => [name, fromClientEntry(entry)]);
  return { mcpServers: Object.fromEntries(converted) };
}

interface Reader {
  read(node: Node, path: JSONPath): unknown;
  readonly used: readonly UsedVariable[];
  readonly unset: ReadonlyMap<string, string>;
}

/**
 * Reads values with their variables expanded; omits those that are not `wanted`. Below `tolerant`, an unset variable
 * is recorded for its server instead of being a problem of the file.
 */
function createReader(
  text: string,
  problems: ConfigProblems,
  variables: VariableSource,
  wanted: (path: JSONPath) => boolean,
  tolerant: JSONPath | null,
): Reader {
  const used: UsedVariable[] = [];
  const unset = new Map<string, string>();
  return { used, unset, read: (node, path) => read(node, path, false) };

  /** In a disabled server, unset variables are not reported. */
  function read(node: Node, path: JSONPath, off: boolean): unknown {
    if (node.type === 'string') return readString(node, path, off);
    if (node.type === 'array') {
      return (node.children ?? []).map((child, index) => read(child, [...path, index], off));
    }
    if (node.type !== 'object') return node.value;
    const isOff = off || findNodeAtLocation(node, ['disabled'])?.value === true;
    const values = new Map<string, unknown>();
    for (const { key, keyNode, value } of propertiesOf(node)) {
      const here = [...path, key];
      if (!wanted(here)) continue;
      if (values.has(key)) problems.add(keyNode.offset, here, 'appears twice; keep one of them');
      values.set(key, value && read(value, here, isOff));
    }
    return Object.fromEntries(values);
  }

  function readString(node: Node, path: JSONPath, off: boolean): string {
    const expansion = expandVariables(node.value, variables);
    used.push(...expansion.used);
    for (const { written, message, isUnset } of off ? [] : expansion.problems) {
      const server = tolerant?.every((step, i) => path[i] === step) ? path[tolerant.length] : undefined;
      if (isUnset && server !== undefined) {
        unset.set(String(server), message);
        continue;
      }
      const within = text.slice(node.offset, node.offset + node.length).indexOf(written);
      problems.add(node.offset + Math.max(0, within), path, message);
    }
    return expansion.text;
  }
}

/** Checks that a schema cannot express well: names, and keys that contradict each other within a server. */
function checkServers(
  entries: Readonly<Record<string, unknown>>,
  { path, source, problems, misspelt }: ServerCheck,
): void {
  for (const [name, entry] of Object.entries(entries)) {
    const here = [...path, name];
    if (!isServerName(name)) {
      problems.add(locateKey(source, here), here, BAD_NAME);
    }
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) continue;
    for (const { key, message } of contradictions(entry as Record<string, unknown>)) {
      if (key === null && misspelt.has(name)) continue;
      if (key === null) problems.add(locate(source, here), here, message);
      else problems.add(locateKey(source, [...here, key]), [...here, key], message);
    }
  }
}

/** `key` is the offending key; null for the server as a whole. */
function contradictions(entry: Record<string, unknown>): { key: string | null; message: string }[] {
  const has = (key: string) => entry[key] !== undefined;
  for (const key of has('command') ? ['url', 'openapi'].filter(has) : [])
    return [{ key, message: 'cannot be combined with "command"; keep one of them' }];
  if (!has('command') && !has('url') && !has('openapi')) {
    return [{ key: null, message: 'needs "command" (a program to start) or "url" (a server to reach)' }];
  }
  const found: { key: string | null; message: string }[] = [];
  if (has('openapi')) {
    if (!has('url') && !has('origins')) found.push({ key: null, message: NEEDS_PLACE });
    const { kind } = Object(entry.auth);
    if (kind !== undefined && kind !== 'bearer')
      found.push({ key: 'auth', message: 'can only be of kind "bearer" with "openapi"' });
    if (has('type')) found.push({ key: 'type', message: 'cannot be combined with "openapi"; remove it' });
  } else if (has('origins')) {
    found.push({ key: 'origins', message: 'is only valid for servers with "openapi"' });
  }
  const [stray, owner] = has('command') ? [HTTP_ONLY, 'url'] : [STDIO_ONLY, 'command'];
  for (const key of stray.filter(has))
    found.push({ key, message: `is only valid for servers with "${owner}"` });
  const needed = NEEDED_BY_TYPE.get(entry.type);
  if (needed !== undefined && !has(needed) && !has('openapi')) {
    found.push({ key: 'type', message: `is only valid for servers with "${needed}"; remove or fix it` });
  }
  const headers = Object.keys(Object(entry.headers)).map((header) => header.toLowerCase());
  if (has('auth') && headers.includes('authorization')) {
    found.push({ key: 'auth', message: 'cannot be combined with an Authorization header; keep one of them' });
  }
  return found;
}

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
function explainIssue(issue: z.core.$ZodIssue, checked: Checked, problems: ConfigProblems): void {
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
