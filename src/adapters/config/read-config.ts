import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import { isServerName } from '../../core/vocabulary/ids.ts';
import {
  type ConfigForm,
  clientVariables,
  fromClientEntry,
  isReadByUs,
  misspeltPml,
  recogniseForm,
} from './client-form.ts';
import { expandVariables, type UsedVariable, type VariableSource } from './collect-secrets.ts';
import { explainIssue } from './explain-issue.ts';
import { type Config, configSchema } from './schema.ts';
import {
  ConfigProblems,
  locate,
  locateKey,
  parseSource,
  propertiesOf,
  type SourceText,
} from './source-text.ts';

const STDIO_ONLY = ['args', 'env', 'cwd'];

const HTTP_ONLY = ['headers', 'auth'];

const NEEDED_BY_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['stdio', 'command'],
  ['http', 'url'],
  ['sse', 'url'],
  ['streamable-http', 'url'],
]);

const BAD_NAME =
  'cannot name a server; use letters, digits, "_", "-" and "." (the names "code" and "capability" are taken)';

interface ServerCheck {
  /** Where the servers stand in the file. */
  readonly path: JSONPath;
  readonly source: SourceText;
  readonly problems: ConfigProblems;
  /** Servers with an unknown key: it may be the `command` that seems to be missing. */
  readonly misspelt: ReadonlySet<PropertyKey | undefined>;
}

interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** From text to a checked configuration; throws once, with everything that is wrong. */
export function readConfig(
  file: string,
  text: string,
  { env, home }: Environment,
): { config: Config; variables: readonly UsedVariable[] } {
  const source = parseSource(file, text);
  const problems = new ConfigProblems(file, text);
  const form = recogniseForm(file, source.root);
  const predefined = form.ours ? {} : clientVariables(file, home);
  const reader = createReader(
    text,
    problems,
    { env, predefined },
    (path) => form.ours || isReadByUs(path, form),
  );
  const raw = form.ours
    ? (reader.read(source.root, []) as Record<string, unknown>)
    : readClientFile(source, form, reader, problems);

  const serversInFile = form.servers ?? ['mcpServers'];
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
  return { config: checked.data!, variables: reader.used };
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
    const needed = 'has neither "pml" nor "mcpServers" nor "servers"; one of them is needed';
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
}

/** Values of the file with their variables filled in; what is not `wanted` is left out. */
function createReader(
  text: string,
  problems: ConfigProblems,
  variables: VariableSource,
  wanted: (path: JSONPath) => boolean,
): Reader {
  const used: UsedVariable[] = [];
  return { used, read: (node, path) => read(node, path, false) };

  /** In a server that is switched off, variables that are not set do no harm. */
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
      if (values.has(key)) problems.add(keyNode.offset, here, 'stands twice; keep one of them');
      values.set(key, value && read(value, here, isOff));
    }
    return Object.fromEntries(values);
  }

  function readString(node: Node, path: JSONPath, off: boolean): string {
    const expansion = expandVariables(node.value, variables);
    used.push(...expansion.used);
    for (const { written, message } of off ? [] : expansion.problems) {
      const within = text.slice(node.offset, node.offset + node.length).indexOf(written);
      problems.add(node.offset + Math.max(0, within), path, message);
    }
    return expansion.text;
  }
}

/** What a schema cannot say well: names, and what fits together within one server. */
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

/** `key` is the one to blame; null for the server as a whole. */
function contradictions(entry: Record<string, unknown>): { key: string | null; message: string }[] {
  const has = (key: string) => entry[key] !== undefined;
  if (has('command') && has('url')) {
    return [{ key: 'url', message: 'cannot be combined with "command"; keep one of them' }];
  }
  if (!has('command') && !has('url')) {
    return [{ key: null, message: 'needs "command" (a program to start) or "url" (a server to reach)' }];
  }
  const found: { key: string; message: string }[] = [];
  const [stray, owner] = has('command') ? [HTTP_ONLY, 'url'] : [STDIO_ONLY, 'command'];
  for (const key of stray.filter(has)) found.push({ key, message: `is only for servers with "${owner}"` });
  const needed = NEEDED_BY_TYPE.get(entry.type);
  if (needed !== undefined && !has(needed)) {
    found.push({ key: 'type', message: `is for servers with "${needed}"; remove it, or fix it` });
  }
  const headers = Object.keys(Object(entry.headers)).map((header) => header.toLowerCase());
  if (has('auth') && headers.includes('authorization')) {
    found.push({ key: 'auth', message: 'and an Authorization header exclude each other; keep one of them' });
  }
  return found;
}
